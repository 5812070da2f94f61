import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { eventually } from '../../../../../support/eventually.ts';
import { exportSpans } from '../../../../../support/tracing/exported-spans.ts';

/** The URL that a server has for spans, until it is disposed of. */
interface StrangeCollector extends AsyncDisposable {
  readonly endpoint: string;
}

async function listen(server: Server): Promise<StrangeCollector> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return {
    endpoint: `http://127.0.0.1:${String(port)}/v1/traces`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with these bytes. */
function sendingBytes(bytes: string): Promise<StrangeCollector> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(bytes));
  });
  return listen(server);
}

/** Accepts each export with this body. */
function sendingBody(body: string): Promise<StrangeCollector> {
  const server = createHttpServer((request, response) => {
    const fields = { 'content-type': 'application/json', connection: 'close' };
    request.resume().once('end', () => response.writeHead(200, fields).end(body));
  });
  return listen(server);
}

describe('spans for a server that is no usual collector', () => {
  it.each<[string, string]>([
    ['switches to another protocol', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['ends the connection', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'],
    ['speaks another protocol', 'SSH-2.0-x\r\n'],
  ])('wait while it %s, and go to another collector', async (_, answer) => {
    await using strange = await sendingBytes(answer);
    await using world = await exportSpans();
    const { endpoint } = strange;
    world.tracer.apply(world.settings({ endpoint, maxExportBatchSize: 1 }));
    world.makeSpans(9);
    await eventually('it has failed', () => world.records.length > 0);
    world.tracer.apply(world.settings());
    await eventually('all are there', () => world.collector.spans.length === 9);
    expect(world.tracer.dropped).toBe(0);
  });

  it.each<[number, string]>([
    [5, '"5"'],
    [0, '"many"'],
    [0, '-3'],
    [7, '1e999'],
  ])(
    'are counted: %d of 7 are dropped if it says that it rejected %s',
    async (dropped, rejectedSpans) => {
      const body = `{"partialSuccess":{"rejectedSpans":${rejectedSpans}}}`;
      await using strange = await sendingBody(body);
      const { endpoint } = strange;
      await using world = await exportSpans({ protocol: 'http/json', endpoint });
      world.makeSpans(7);
      const { tracer } = world;
      await eventually('they are counted', () => tracer.exported + tracer.dropped === 7);
      expect(tracer.dropped).toBe(dropped);
    },
  );

  it.each<[string, string, string]>([
    ['rejects some', '{"partialSuccess":{"rejectedSpans":1}}', 'spans are dropped'],
    ['answers no JSON', '<html>', 'message of OpenTelemetry'],
  ])('have one line in the log while it %s', async (_, body, line) => {
    await using strange = await sendingBody(body);
    const { endpoint } = strange;
    await using world = await exportSpans({ protocol: 'http/json', endpoint });
    for (const wanted of [1, 2, 3]) {
      world.makeSpans(2);
      const { tracer } = world;
      await eventually('they are counted', () => tracer.exported + tracer.dropped === wanted * 2);
    }
    expect(world.records.map(({ message }) => message)).toEqual([line]);
  });

  it('show no query of the endpoint in the log', async () => {
    await using world = await exportSpans();
    world.collector.behavior = { kind: 'refuse', mayRetry: true };
    const endpoint = `${world.settings().endpoint}?api-key=secret-of-the-collector`;
    world.tracer.apply(world.settings({ endpoint }));
    world.makeSpans(1);
    await eventually('it has failed', () => world.records.length > 0);
    expect(JSON.stringify(world.records)).not.toContain('secret-of-the-collector');
    expect(world.collector.takeViolations()).not.toEqual([]);
  });
});
