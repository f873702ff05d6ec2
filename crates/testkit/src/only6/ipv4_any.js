// Serves 1000 bytes at any path, at all IPv4 addresses.
//
//     ipv4_any.js PORT
"use strict";

const http = require("node:http");

const BODY = Buffer.alloc(1000, "x");

const server = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": BODY.length });
  response.end(BODY);
});

server.on("error", (error) => {
  console.error(`ipv4_any: ${error.message}`);
  process.exit(1);
});

server.listen(Number(process.argv[2]), "0.0.0.0");
