// Node's own servers: hello.js FOLDER PLAIN6 PLAIN4 TLS6 TLS4 CLEAR6 CLEAR4
const { readFileSync } = require("fs");
const http = require("http");
const http2 = require("http2");

const [folder, ...ports] = process.argv.slice(2);
const answer = (request, response) => {
  // Without the form in which a socket of both families has an address of IPv4.
  console.log(request.socket.remoteAddress.replace("::ffff:", ""), request.url);
  response.writeHead(200, { "content-type": "text/plain", "content-length": 13 });
  response.end("hello, world\n");
};
const pair = {
  cert: readFileSync(`${folder}/certificate.pem`),
  key: readFileSync(`${folder}/key.pem`),
  allowHTTP1: true,
};
const made = [
  () => http.createServer(answer),
  () => http2.createSecureServer(pair, answer),
  () => http2.createServer(answer),
];
ports.forEach((port, at) => {
  made[at >> 1]().listen(Number(port), at % 2 ? "127.0.0.1" : "::1");
});
