import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, it } from '@jest/globals';

import type { TracingSettings } from '../../../../../../shared/telemetry/tracing/tracing-settings.ts';
import { eventually } from '../../../../../support/eventually.ts';
import { exportSpans } from '../../../../../support/tracing/exported-spans.ts';

let server: Server | Http2Server;
afterEach(() => {
  server.close();
});

/** What collectors are to somebody who mistakes them: a server for HTTP/1.1 or HTTP/2 without this path. */
const SERVERS = {
  'HTTP/1.1': () => createServer((_, response) => response.writeHead(404).end()),
  'HTTP/2': () => createHttp2Server((_, response) => response.writeHead(404).end()),
};

interface Mistake {
  readonly mistake: string;
  readonly speaks: keyof typeof SERVERS;
  readonly scheme: 'http' | 'https';
  readonly protocol: TracingSettings['protocol'];
  readonly cause: string;
}

it.each<Mistake>([
  {
    mistake: 'of a path that the collector does not have',
    speaks: 'HTTP/1.1',
    scheme: 'http',
    protocol: 'http/protobuf',
    cause: 'HTTP status 404: the path of the endpoint may be wrong',
  },
  {
    mistake: 'of the port for gRPC, with HTTP',
    speaks: 'HTTP/2',
    scheme: 'http',
    protocol: 'http/protobuf',
    cause: 'no HTTP/1.1 is spoken there: it may be the port for gRPC',
  },
  {
    mistake: 'of the port for HTTP, with gRPC',
    speaks: 'HTTP/1.1',
    scheme: 'http',
    protocol: 'grpc',
    cause: 'gRPC status UNAVAILABLE: no gRPC is spoken there: it may be the port for HTTP',
  },
  {
    mistake: 'of an endpoint without TLS, with https',
    speaks: 'HTTP/1.1',
    scheme: 'https',
    protocol: 'http/json',
    cause: 'no TLS is spoken there: it may be an endpoint for http',
  },
])('an endpoint $mistake, is named by one line', async ({ speaks, scheme, protocol, cause }) => {
  server = SERVERS[speaks]();
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  await using world = await exportSpans();
  const endpoint = `${scheme}://127.0.0.1:${String(port)}`;
  world.tracer.apply(world.settings({ endpoint, protocol }));
  await eventually('it has tried twice', () => {
    world.makeSpans(1);
    return connections >= 2 || world.tracer.dropped >= 2;
  });
  await world.tracer[Symbol.asyncDispose]();
  expect(world.records.filter(({ message }) => message === 'spans cannot be exported')).toEqual([
    {
      level: 'warn',
      message: 'spans cannot be exported',
      fields: { endpoint, cause: `ExportFailure: ${cause}` },
    },
  ]);
});
