import { describe, expect, test } from '@jest/globals';

import { Collector } from '../../support/collector/collector.ts';
import { eventually } from '../../support/eventually.ts';
import {
  exportingTo,
  startTracedProcess,
  type TracedProcess,
} from '../../support/tracing/traced-process.ts';

const PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

describe('a process that traces', () => {
  test.each(PROTOCOLS)('exports spans by %s, with its header fields', async (protocol) => {
    await using collector = await Collector.start();
    const headers = [{ name: 'x-api-key', value: 'a-key' }];
    const settings = exportingTo(collector.endpoint(protocol), { protocol, headers });
    await using gateway = await startTracedProcess(settings);

    expect((await gateway.send('/hello?secret=of-the-query')).status).toBe(200);
    const span = await spanOf(collector, '/hello');

    const [received] = collector.exports;
    expect(received).toMatchObject({ protocol, headers: { 'x-api-key': 'a-key' } });
    expect(span).toMatchObject({
      kind: 'server',
      name: 'GET /',
      attributes: { 'http.route': '/', 'http.response.status_code': 200 },
      resource: { 'service.name': 'gatehouse' },
    });
    expect(JSON.stringify(received?.spans, withoutBigints)).not.toContain('of-the-query');
    const [tree, ...others] = collector.trace(span.traceId);
    expect(others).toEqual([]);
    expect(tree?.children.map((child) => child.span.name)).toEqual(['policy', 'GET']);
  });

  test.each(PROTOCOLS)(
    'loses no spans when the collector is away for a while: %s',
    async (protocol) => {
      const first = await Collector.start();
      const { httpPort, grpcPort } = first;
      await using gateway = await startTracedProcess(
        exportingTo(first.endpoint(protocol), { protocol }),
      );
      await gateway.send('/before');
      await spanOf(first, '/before');
      await first[Symbol.asyncDispose]();

      await gateway.send('/away');
      await using second = await Collector.start({ httpPort, grpcPort });
      await gateway.send('/after');
      await spanOf(second, '/after');
      expect((await spanOf(second, '/away')).attributes['url.path']).toBe('/away');
    },
  );

  test('answers while the collector hangs, and says once that it loses spans', async () => {
    await using collector = await Collector.start();
    collector.behavior = { kind: 'hang' };
    await using gateway = await startTracedProcess(
      exportingTo(collector.endpoint('grpc'), {
        ...{ protocol: 'grpc', timeoutMilliseconds: 200 },
        // Long paths fill the memory for spans soon.
        attributeValueLengthLimit: 10_000,
      }),
    );
    await eventually('spans are dropped', async () => {
      const sent = Array.from({ length: 100 }, () => gateway.send(`/${'x'.repeat(7_000)}`));
      for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
      return (await gateway.droppedSpans()) > 0;
    });
    expect(linesAbout(gateway, 'spans are dropped')).toHaveLength(1);

    collector.behavior = { kind: 'accept' };
    await eventually('the exporter works again', async () => {
      await gateway.send('/working');
      return collector.spans.some(({ attributes }) => attributes['url.path'] === '/working');
    });
    await eventually(
      'that is said',
      () => linesAbout(gateway, 'spans are no longer dropped').length === 1,
    );
    expect(linesAbout(gateway, 'spans are dropped')).toHaveLength(1);
  });

  test('swaps the exporter when its settings change, and loses no span', async () => {
    await using first = await Collector.start();
    await using second = await Collector.start();
    await using gateway = await startTracedProcess(
      exportingTo(first.endpoint('grpc'), {
        protocol: 'grpc',
        bspScheduleDelayMilliseconds: 60_000,
      }),
    );
    const sent: string[] = [];
    const request = async (): Promise<void> => {
      const path = `/${String(sent.length)}`;
      sent.push(path);
      await gateway.send(path);
    };
    // They wait in the first exporter when the settings change.
    for (let each = 0; each < 20; each += 1) await request();
    await gateway.configure(exportingTo(second.endpoint('http/json'), { protocol: 'http/json' }));
    await eventually('the second collector gets spans', async () => {
      await request();
      return second.spans.length > 0;
    });

    await eventually('every request has its span', () => {
      return sent.every((path) => pathsIn(first, second).includes(path));
    });
    expect(pathsIn(first, second).toSorted()).toEqual(sent.toSorted());
    expect(await gateway.droppedSpans()).toBe(0);
  });

  test('exports what is left when it ends', async () => {
    await using collector = await Collector.start();
    await using gateway = await startTracedProcess(
      exportingTo(collector.endpoint('grpc'), {
        ...{ protocol: 'grpc', bspScheduleDelayMilliseconds: 60_000 },
      }),
    );
    await gateway.send('/last');
    gateway.gatehouse.signal('SIGTERM');
    expect(await gateway.gatehouse.exited()).toBe(0);
    expect(pathsIn(collector)).toEqual(['/last']);
  });

  test('prefers what its environment says', async () => {
    await using settings = await Collector.start();
    await using environment = await Collector.start();
    await using gateway = await startTracedProcess(
      exportingTo(settings.endpoint('grpc'), { protocol: 'grpc' }),
      {
        environment: {
          OTEL_EXPORTER_OTLP_ENDPOINT: environment.endpoint('http/protobuf'),
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        },
      },
    );
    await gateway.send('/hello');
    const { resource } = await spanOf(environment, '/hello');
    expect(resource).toMatchObject({ 'deployment.environment.name': 'test' });
    expect(settings.exports).toEqual([]);
  });
});

/** Waits for the server span of a path. */
function spanOf(collector: Collector, path: string): ReturnType<Collector['span']> {
  return collector.span(
    `the span of ${path}`,
    ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
  );
}

/** Paths of the server spans. */
function pathsIn(...collectors: readonly Collector[]): readonly string[] {
  const servers = collectors.flatMap(({ spans }) => spans.filter(({ kind }) => kind === 'server'));
  return servers.map(({ attributes }) => String(attributes['url.path']));
}

function linesAbout({ gatehouse }: TracedProcess, message: string): readonly unknown[] {
  return gatehouse.log.filter((record) => record['message'] === message);
}

function withoutBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
