import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import protobuf from 'protobufjs';

import { Collector } from '../../../support/collector/collector.ts';
import { encodeExport, sendExport } from '../../../support/collector/raw-exporter.ts';
import type { ReceivedProtocol } from '../../../support/collector/receive-export.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const ROOT = 'b7ad6b7169203331';
const CHILD = '00f067aa0ba902b7';

/** A span in OTLP's JSON encoding. */
const SPAN = {
  traceId: TRACE,
  spanId: ROOT,
  name: 'GET /',
  kind: 2,
  startTimeUnixNano: '1700000000000000001',
  endTimeUnixNano: '1700000000000000003',
};

let collector: Collector;
beforeEach(async () => {
  collector = await Collector.start();
});
afterEach(async () => {
  await collector[Symbol.asyncDispose]();
});

describe('Collector', () => {
  test.each(['grpc', 'http/protobuf', 'http/json'] as const)(
    'gives the spans of an export by %s',
    async (protocol) => {
      const span = {
        ...SPAN,
        parentSpanId: CHILD,
        traceState: 'vendor=1',
        flags: 0x101,
        attributes: [
          { key: 'text', value: { stringValue: 'ä' } },
          { key: 'integer', value: { intValue: '-7' } },
          { key: 'list', value: { arrayValue: { values: [{ boolValue: false }] } } },
        ],
        events: [{ name: 'exception', timeUnixNano: '1700000000000000002' }],
        links: [{ traceId: TRACE, spanId: CHILD }],
        status: { code: 2, message: 'went wrong' },
      };
      expect(await send(protocol, span)).toMatchObject({ response: {} });
      expect(collector.exports).toMatchObject([{ protocol, isAccepted: true }]);
      expect(collector.spans).toEqual([
        {
          traceId: TRACE,
          spanId: ROOT,
          parentSpanId: CHILD,
          traceState: 'vendor=1',
          name: 'GET /',
          kind: 'server',
          start: 1_700_000_000_000_000_001n,
          end: 1_700_000_000_000_000_003n,
          attributes: { text: 'ä', integer: -7, list: [false] },
          events: [{ name: 'exception', time: 1_700_000_000_000_000_002n, attributes: {} }],
          links: [{ traceId: TRACE, spanId: CHILD, attributes: {} }],
          status: { code: 'error', message: 'went wrong' },
          resource: { 'service.name': 'test' },
          scope: 'a scope',
        },
      ]);
    },
  );

  test('arranges a trace as a tree, in the order of starts', async () => {
    const child = { ...SPAN, spanId: CHILD, parentSpanId: ROOT, name: 'second' };
    const first = {
      ...child,
      spanId: '00f067aa0ba902b8',
      name: 'first',
      startTimeUnixNano: '1700000000000000000',
    };
    await send('http/json', child);
    await send('http/json', SPAN);
    await send('http/json', first);
    const [tree, ...others] = collector.trace(TRACE);
    expect(others).toEqual([]);
    expect(tree?.span.name).toBe('GET /');
    expect(tree?.children.map(({ span }) => span.name)).toEqual(['first', 'second']);
  });

  describe.each(['grpc', 'http/protobuf', 'http/json'] as const)('refuses by %s', (protocol) => {
    test.each([
      ['a trace id of 8 bytes', { traceId: ROOT }, 'traceId: not 16 bytes'],
      ['a span id of 16 bytes', { spanId: TRACE }, 'spanId: not 8 bytes'],
      ['a span id of zeros', { spanId: '0000000000000000' }, 'spanId: only zeros'],
      ['a parent of 4 bytes', { parentSpanId: '00f067aa' }, 'parentSpanId: not 8 bytes'],
      ['an end before the start', { endTimeUnixNano: '1700000000000000000' }, 'ends before'],
      ['a span without a start', { startTimeUnixNano: '0' }, 'no start'],
      ['a span without a name', { name: '' }, 'no name'],
      ['a span without a kind', { kind: 0 }, 'no kind'],
      ['a link without a span', { links: [{ traceId: TRACE }] }, 'links[0].spanId: not 8 bytes'],
      ['an attribute without a value', { attributes: [{ key: 'a' }] }, 'value: no value'],
      [
        'an attribute twice',
        { attributes: ['1', '2'].map((stringValue) => ({ key: 'a', value: { stringValue } })) },
        '"a" twice',
      ],
      ['an event without a time', { events: [{ name: 'a' }] }, 'no time'],
      ['a tracestate that is none', { traceState: 'a' }, 'not a tracestate'],
      ['why a span is not an error', { status: { message: 'fine' } }, 'message without an error'],
    ])('%s', async (_, fields, violation) => {
      const { status } = await send(protocol, { ...SPAN, ...fields });
      expect(status).toBe(protocol === 'grpc' ? 3 : 400);
      expect(collector.spans).toEqual([]);
      expect(collector.takeViolations()).toEqual([expect.stringContaining(violation)]);
    });
  });

  test.each([
    ['a name in another casing', { start_time_unix_nano: '1' }, 'unknown field'],
    ['an unknown field', { colour: 'red' }, 'unknown field "colour"'],
    ['the name of a kind', { kind: 'SPAN_KIND_SERVER' }, 'not the number of a SpanKind'],
    ['an id in base64', { spanId: 'ALfwZ6oLqQI=' }, 'spanId: not of type bytes'],
    ['a time that lost digits', { endTimeUnixNano: 1.7e18 }, 'endTimeUnixNano: not of type'],
    ['no value of a field', { name: null }, 'name: not of type string'],
  ])('refuses %s in JSON', async (_, fields, violation) => {
    expect(await send('http/json', { ...SPAN, ...fields })).toEqual({ status: 400 });
    expect(collector.takeViolations()).toEqual([expect.stringContaining(violation)]);
  });

  test.each([
    [
      'an unknown field',
      protobuf.Writer.create()
        .uint32((99 << 3) | 0)
        .uint32(1),
      'field 99',
    ],
    [
      'another wire type',
      protobuf.Writer.create()
        .uint32((1 << 3) | 0)
        .uint32(1),
      'wire type 0',
    ],
    [
      'a message that is cut',
      protobuf.Writer.create()
        .uint32((1 << 3) | 2)
        .uint32(9),
      '',
    ],
  ])('refuses %s in protobuf', async (_, writer, violation) => {
    expect(await sendExport(collector, 'grpc', writer.finish())).toEqual({ status: 3 });
    expect(collector.takeViolations()).toEqual([expect.stringContaining(violation)]);
  });

  test('refuses another path', async () => {
    const response = await fetch(`${collector.endpoint('http/json')}/traces`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(collector.takeViolations()).toEqual(['HTTP: POST /traces']);
  });

  test('fails the test in which something was refused', async () => {
    const strict = await Collector.start();
    await sendExport(strict, 'http/json', Buffer.from('{}'));
    await expect(strict[Symbol.asyncDispose]()).rejects.toThrow('request: no spans');
  });

  test.each([
    ['grpc', 14, 7],
    ['http/protobuf', 503, 403],
    ['http/json', 503, 403],
  ] as const)('refuses what is right, by %s, if it is told to', async (protocol, later, never) => {
    collector.behavior = { kind: 'refuse', mayRetry: true };
    expect(await send(protocol, SPAN)).toEqual({ status: later });
    collector.behavior = { kind: 'refuse', mayRetry: false };
    expect(await send(protocol, SPAN)).toEqual({ status: never });
    expect(collector.exports).toHaveLength(2);
    expect(collector.spans).toEqual([]);
  });

  test.each(['grpc', 'http/protobuf', 'http/json'] as const)(
    'accepts a part, by %s, if it is told to',
    async (protocol) => {
      collector.behavior = { kind: 'partial', rejectedSpans: 1, message: 'too old' };
      const { response } = await send(protocol, SPAN);
      expect(response).toEqual({
        partialSuccess: {
          rejectedSpans: '1',
          errorMessage: 'too old',
        },
      });
    },
  );

  test.each(['grpc', 'http/protobuf', 'http/json'] as const)(
    'leaves an export by %s without an answer if it is told to',
    async (protocol) => {
      const hanging = await Collector.start();
      hanging.behavior = { kind: 'hang' };
      const answer = send(protocol, SPAN, hanging).catch(() => 'cut off');
      while (hanging.exports.length === 0) await new Promise(setImmediate);
      await hanging[Symbol.asyncDispose]();
      expect(await answer).toEqual(protocol === 'grpc' ? { status: 1 } : 'cut off');
      expect(hanging.spans).toEqual([]);
    },
  );

  test('answers slowly if it is told to, and has the spans', async () => {
    collector.behavior = { kind: 'slow', milliseconds: 10 };
    expect(await send('http/json', SPAN)).toEqual({ status: 200, response: {} });
    expect(collector.spans).toHaveLength(1);
  });

  test('comes back on its ports', async () => {
    const { httpPort, grpcPort } = collector;
    await collector[Symbol.asyncDispose]();
    collector = await Collector.start({ httpPort, grpcPort });
    expect(await send('grpc', SPAN)).toMatchObject({ status: 0 });
    expect(await send('http/json', SPAN)).toMatchObject({ status: 200 });
  });
});

type Span = Readonly<Record<string, unknown>>;

/** Sends a span that is given as in OTLP's JSON encoding. */
async function send(protocol: ReceivedProtocol, span: Span, to = collector) {
  const request = (each: Span): Record<string, unknown> => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'test' } }] },
        scopeSpans: [{ scope: { name: 'a scope' }, spans: [each] }],
      },
    ],
  });
  const body =
    protocol === 'http/json'
      ? Buffer.from(JSON.stringify(request(span)))
      : encodeExport(request(withBytes(span)));
  return await sendExport(to, protocol, body);
}

/** Converts the ids of a span to bytes. */
function withBytes(span: Span): Span {
  const entries = Object.entries(span).map(([name, value]): [string, unknown] => {
    if (name === 'links') return [name, (value as Span[]).map(withBytes)];
    return [name, name.endsWith('Id') ? Buffer.from(String(value), 'hex') : value];
  });
  return Object.fromEntries(entries);
}
