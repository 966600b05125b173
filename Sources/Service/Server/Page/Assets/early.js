// Opens the connection while the rest of the page still arrives. A browser that is not logged in is refused, and shows the
// login then; a code logs it in before.

if (!location.hash.startsWith("#code=")) {
  const socket = new WebSocket(new URL("/live", location.href.replace(/^http/, "ws")));
  /** @type {string[]} */
  const messages = [];
  socket.onmessage = ({ data }) => messages.push(data);
  Object.assign(globalThis, { early: { socket, messages } });
}
