// The part of the page that is loaded after the first rows, or when it is wanted before.

/** @returns {Promise<typeof import("./later.js").later>} */
export const rest = () => import("./later.js").then(({ later }) => later);
