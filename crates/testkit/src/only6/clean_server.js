// Serves 1000 bytes at any path, at all addresses.
//
//     clean_server.js PORT
"use strict";

const http = require("node:http");

const BODY = Buffer.alloc(1000, "x");

const server = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": BODY.length });
  response.end(BODY);
});

server.on("error", (error) => {
  console.error(`clean_server: ${error.message}`);
  process.exit(1);
});

server.listen(Number(process.argv[2]));
