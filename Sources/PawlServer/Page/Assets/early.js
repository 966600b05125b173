// Opens the connection while the rest of the page is still loaded, if this browser was logged in last time.

if (localStorage.getItem("pawl.known") && !location.hash.startsWith("#code=")) {
  const socket = new WebSocket(new URL("/live", location.href.replace(/^http/, "ws")));
  /** @type {string[]} */
  const messages = [];
  socket.onmessage = ({ data }) => messages.push(data);
  Object.assign(globalThis, { early: { socket, messages } });
}
