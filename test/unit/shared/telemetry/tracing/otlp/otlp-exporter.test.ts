import { describe, expect, it } from '@jest/globals';

import type { TracingSettings } from '../../../../../../shared/telemetry/tracing/tracing-settings.ts';
import { Collector } from '../../../../../support/collector/collector.ts';
import { eventually } from '../../../../../support/eventually.ts';
import { freePort } from '../../../../../support/free-port.ts';
import {
  exportSpans,
  PROTOCOLS,
  type ExportedSpans,
} from '../../../../../support/tracing/exported-spans.ts';

function namesAt(collector: Collector): string[] {
  return collector.spans.map(({ name }) => name).sort((one, other) => Number(one) - Number(other));
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}

function messages({ records }: ExportedSpans): string[] {
  return records.map(({ message }) => message);
}

async function allAt(collector: Collector, count: number): Promise<void> {
  await eventually(`${String(count)} spans`, () => collector.spans.length >= count);
}

describe.each(PROTOCOLS)('spans that are exported by %s', (protocol) => {
  it('arrive as they are, with the process that made them', async () => {
    await using world = await exportSpans({
      protocol,
      headers: { 'X-Api-Key': 'secret-of-the-collector' },
      resourceAttributes: { 'deployment.environment.name': 'Zürich' },
    });
    const { tracer, collector, records } = world;
    const before = BigInt(Date.now() - 1_000) * 1_000_000n;
    const parent = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      isSampled: true,
      traceState: 'c=d',
    };
    const other = { ...parent, traceId: 'c'.repeat(32) };
    const trace = tracer.start('request', 'server', { parent, links: [other] });
    const child = trace?.span?.child('upstream request', 'client', { 'server.port': 8000 });
    child?.set('gatehouse.decision.reasons', ['mcp-tool-ok', 'ünïcode']);
    child?.recordError(new Error('no answer'));
    child?.end();
    trace?.span?.end();
    await allAt(collector, 2);
    const [received] = collector.exports;
    expect(received).toMatchObject({
      protocol,
      headers: { 'x-api-key': 'secret-of-the-collector' },
    });
    const [first, second] = collector.spans;
    expect(first).toMatchObject({
      traceId: parent.traceId,
      parentSpanId: trace?.context.spanId,
      traceState: 'c=d',
      name: 'upstream request',
      kind: 'client',
      attributes: {
        'server.port': 8000,
        'gatehouse.decision.reasons': ['mcp-tool-ok', 'ünïcode'],
        'error.type': 'Error',
      },
      events: [{ name: 'exception', attributes: { 'exception.message': 'Error: no answer' } }],
      status: { code: 'error', message: 'Error: no answer' },
      scope: 'gatehouse',
      resource: {
        'service.name': 'gatehouse-test',
        'service.instance.id': 'test-1',
        'deployment.environment.name': 'Zürich',
      },
    });
    expect(second).toMatchObject({
      parentSpanId: parent.spanId,
      kind: 'server',
      links: [{ traceId: other.traceId, spanId: other.spanId }],
      status: { code: 'unset' },
    });
    expect(first?.start).toBeGreaterThan(before);
    expect(first?.end).toBeLessThan(before + 60_000_000_000n);
    await eventually('they are counted', () => tracer.exported === 2);
    expect(records).toEqual([]);
  });

  it('wait while the collector asks for that, and arrive once', async () => {
    await using world = await exportSpans({ protocol });
    const { collector, makeSpans, tracer } = world;
    collector.behavior = { kind: 'refuse', mayRetry: true };
    makeSpans(3);
    await eventually('it has failed twice', () => collector.exports.length >= 2);
    collector.behavior = { kind: 'accept' };
    await allAt(collector, 3);
    await eventually('that is over', () => messages(world).length === 2);
    expect(namesAt(collector)).toEqual(numbers(3));
    expect(messages(world)).toEqual(['spans cannot be exported', 'spans are exported again']);
    expect(tracer).toMatchObject({ exported: 3, dropped: 0 });
  });

  it('are dropped if the collector refuses them, and the log says why, once', async () => {
    await using world = await exportSpans({ protocol, headers: { 'X-Api-Key': 'as the test' } });
    const { collector, makeSpans, tracer, records } = world;
    collector.behavior = { kind: 'refuse', mayRetry: false };
    for (const dropped of [2, 4]) {
      makeSpans(2);
      await eventually('they are dropped', () => tracer.dropped === dropped);
    }
    collector.behavior = { kind: 'accept' };
    makeSpans(1);
    await eventually('it takes spans again', () => tracer.exported === 1);
    expect(records).toEqual([
      {
        level: 'warn',
        message: 'spans cannot be exported',
        fields: {
          endpoint: world.settings().endpoint,
          cause:
            protocol === 'grpc'
              ? 'ExportFailure: gRPC status PERMISSION_DENIED: denied, [header] wants it'
              : 'ExportFailure: HTTP status 403',
        },
      },
      {
        level: 'warn',
        message: 'spans are dropped',
        fields: { why: 'the collector refused them' },
      },
      { level: 'info', message: 'spans are exported again', fields: {} },
      { level: 'info', message: 'spans are no longer dropped', fields: { dropped: 4 } },
    ]);
  });

  it('count as dropped if the collector rejects some of them', async () => {
    await using world = await exportSpans({ protocol });
    const { collector, makeSpans, tracer, records } = world;
    collector.behavior = { kind: 'partial', rejectedSpans: 2, message: 'too old' };
    makeSpans(5);
    await eventually('they are counted', () => tracer.dropped === 2);
    expect(tracer.exported).toBe(3);
    expect(records).toContainEqual({
      level: 'warn',
      message: 'spans are dropped',
      fields: { why: 'the collector rejected them' },
    });
  });

  it('wait for a collector that is away', async () => {
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${String(port)}${protocol === 'grpc' ? '' : '/v1/traces'}`;
    await using world = await exportSpans({ protocol });
    world.tracer.apply(world.settings({ endpoint }));
    world.makeSpans(3);
    await eventually('it has failed', () => messages(world).length > 0);
    const ports = protocol === 'grpc' ? { grpcPort: port } : { httpPort: port };
    await using late = await Collector.start(ports);
    await allAt(late, 3);
    expect(namesAt(late)).toEqual(numbers(3));
    expect(world.records[0]).toMatchObject({
      message: 'spans cannot be exported',
      fields: { cause: expect.stringContaining('ECONNREFUSED') },
    });
  });

  it('do not wait longer than the timeout for a collector that hangs', async () => {
    await using world = await exportSpans({ protocol, timeoutMs: 50 });
    world.collector.behavior = { kind: 'hang' };
    world.makeSpans(3);
    await eventually('it has tried twice', () => world.collector.exports.length >= 2);
    world.collector.behavior = { kind: 'accept' };
    await allAt(world.collector, 3);
    expect(namesAt(world.collector)).toEqual(numbers(3));
    expect(messages(world)[0]).toBe('spans cannot be exported');
  });

  it('end with tracing, though the collector hangs', async () => {
    const world = await exportSpans({ protocol });
    world.collector.behavior = { kind: 'hang' };
    world.makeSpans(3);
    await eventually('it has them', () => world.collector.exports.length === 1);
    await world.tracer[Symbol.asyncDispose]();
    expect(world.tracer.dropped).toBe(3);
    expect(messages(world)).toContain('spans are dropped');
    await world.collector[Symbol.asyncDispose]();
  });
});

describe('a tracer', () => {
  it('exports a batch when it is full, without waiting', async () => {
    await using world = await exportSpans({ maxExportBatchSize: 4, scheduleDelayMs: 1e9 });
    world.makeSpans(9);
    await allAt(world.collector, 8);
    expect(world.collector.exports.map(({ spans }) => spans.length)).toEqual([4, 4]);
  });

  it('exports what is left when it ends', async () => {
    const world = await exportSpans({ scheduleDelayMs: 1e9 });
    world.makeSpans(3);
    await world.tracer[Symbol.asyncDispose]();
    expect(namesAt(world.collector)).toEqual(numbers(3));
    await world.collector[Symbol.asyncDispose]();
  });

  it('exports what is left when it is switched off, and nothing more', async () => {
    await using world = await exportSpans({ scheduleDelayMs: 1e9 });
    world.makeSpans(3);
    const late = world.tracer.start('request', 'server')?.span;
    world.tracer.apply(undefined);
    late?.end();
    world.makeSpans(2);
    await allAt(world.collector, 3);
    expect(namesAt(world.collector)).toEqual(numbers(3));
    expect(world.tracer.dropped).toBe(0);
  });

  it.each(PROTOCOLS)('takes waiting spans along to another collector, by %s', async (protocol) => {
    const away = { endpoint: `http://127.0.0.1:${String(await freePort())}/v1/traces` };
    await using world = await exportSpans({ protocol });
    world.tracer.apply(world.settings({ ...away, protocol: 'http/protobuf' }));
    world.makeSpans(20);
    await eventually('it has failed', () => messages(world).length > 0);
    world.tracer.apply(world.settings());
    world.makeSpans(20);
    await allAt(world.collector, 40);
    expect(namesAt(world.collector)).toEqual(numbers(40));
    expect(world.tracer.dropped).toBe(0);
  });

  it('loses no span in changes of settings while spans are made', async () => {
    await using world = await exportSpans({ maxExportBatchSize: 7 });
    for (let round = 0; round < 30; round += 1) {
      world.makeSpans(10);
      const protocol = PROTOCOLS[round % PROTOCOLS.length] ?? 'grpc';
      world.tracer.apply(world.settings({ protocol, timeoutMs: 9_000 + round }));
      await new Promise(setImmediate);
    }
    await allAt(world.collector, 300);
    expect(namesAt(world.collector)).toEqual(numbers(300));
  });

  it('keeps a bounded number of bytes while the collector hangs, and counts what it drops', async () => {
    await using world = await exportSpans({ attributeValueLengthLimit: 10_000 });
    const { collector, tracer, records } = world;
    collector.behavior = { kind: 'hang' };
    const path = '/a'.repeat(5_000);
    const made = 4_000;
    for (let count = 0; count < made; count += 1) {
      tracer.start('request', 'server', { attributes: { 'url.path': path } })?.span?.end();
    }
    // 16 MiB, and each span has 10 kB.
    expect(tracer.dropped).toBeGreaterThan(made - 1_800);
    expect(tracer.dropped).toBeLessThan(made - 1_500);
    expect(records).toEqual([
      {
        level: 'warn',
        message: 'spans are dropped',
        fields: { why: 'too many wait for the collector' },
      },
    ]);
    const lost = tracer.dropped;
    collector.behavior = { kind: 'accept' };
    tracer.apply(world.settings({ timeoutMs: 9_999, attributeValueLengthLimit: 10_000 }));
    await allAt(collector, 1);
    await eventually('the log says that it is over', () => records.length > 1);
    expect(records).toContainEqual({
      level: 'info',
      message: 'spans are no longer dropped',
      fields: { dropped: lost },
    });
  });

  it('does not repeat an outage in the log', async () => {
    await using world = await exportSpans();
    world.collector.behavior = { kind: 'refuse', mayRetry: true };
    world.makeSpans(1);
    await eventually('it has failed often', () => world.collector.exports.length >= 5);
    expect(messages(world)).toEqual(['spans cannot be exported']);
  });

  it.each<[TracingSettings['logLevel'], boolean]>([
    ['none', false],
    ['error', false],
    ['debug', true],
  ])('writes messages of OpenTelemetry to the log, at the level %s', async (logLevel, isLogged) => {
    await using world = await exportSpans({ logLevel });
    world.makeSpans(1);
    await allAt(world.collector, 1);
    expect(messages(world).includes('message of OpenTelemetry')).toBe(isLogged);
  });
});
