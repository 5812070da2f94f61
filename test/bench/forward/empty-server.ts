/** The upper limit of anything built on node:http: a server that reads the request and responds itself. */
import { createServer } from 'node:http';

import { serveParent } from '../support/subject-process.ts';
import { TOOL_RESULT } from './workload.ts';

const body = Buffer.from(TOOL_RESULT);

await serveParent(
  createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': body.length,
      });
      response.end(body);
    });
  }),
);
