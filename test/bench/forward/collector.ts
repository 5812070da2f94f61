/**
 * Receives spans by OTLP over HTTP, and does nothing with them: what a collector does with them is not
 * what a request through the gateway costs.
 */
import { createServer } from 'node:http';

import { serveParent } from '../support/subject-process.ts';

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': 0 });
    response.end();
  });
});

await serveParent(server);
