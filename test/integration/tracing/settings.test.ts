import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { askPort } from '../../support/ask-port.ts';
import { startGatehouse, type GatehouseProcess } from '../../support/cli.ts';
import { Collector } from '../../support/collector/collector.ts';
import { disposeAfterEach } from '../../support/dispose-after-each.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const keep = disposeAfterEach();

let directory: TemporaryDirectory;
let upstream: Upstream;
let port = 0;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
  upstream = await startUpstream((_message, response) => response.end('hello'));
  port = await freePort();
});
afterEach(async () => {
  await upstream[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

describe('gatehouse run exports spans', () => {
  test('as its file says, and follows the changes of the file without losing a span', async () => {
    const first = keep(await Collector.start());
    const second = keep(await Collector.start());
    await directory.write('api-key', 'x-api-key=one\nx-team=a, b\n');
    const toFirst = `
otel_traces_exporter: otlp
otel_exporter_otlp_endpoint: ${first.endpoint('grpc')}
otel_exporter_otlp_protocol: grpc
otel_exporter_otlp_headers_file: api-key
otel_resource_attributes: [deployment.environment.name=test]
`;
    await configure(`${toFirst}otel_bsp_schedule_delay: 100`);
    const gatehouse = await start();

    expect(await askPort(port)).toBe('hello');
    expect((await first.span('the first request', isOfRequest)).resource).toMatchObject({
      'service.name': 'gatehouse',
      'service.instance.id': hostname(),
      'deployment.environment.name': 'test',
    });
    expect(first.exports[0]).toMatchObject({
      protocol: 'grpc',
      headers: { 'x-api-key': 'one', 'x-team': 'a, b' },
    });

    // The spans of the second request wait when the collector changes.
    await configure(`${toFirst}otel_bsp_schedule_delay: 3600000`);
    await applied(gatehouse, 1);
    expect(await askPort(port)).toBe('hello');
    await configure(`
otel_traces_exporter: otlp
otel_exporter_otlp_traces_endpoint: ${second.endpoint('http/json')}/v1/traces
otel_exporter_otlp_protocol: http/json
otel_bsp_schedule_delay: 100
`);
    await applied(gatehouse, 2);
    expect(await askPort(port)).toBe('hello');
    await eventually('both requests are there', () => second.spans.filter(isOfRequest).length >= 2);
    expect(second.exports[0]).toMatchObject({ protocol: 'http/json' });
    expect(second.exports[0]?.headers).not.toHaveProperty('x-api-key');

    await configure('otel_traces_exporter: none');
    await applied(gatehouse, 3);
    expect(await askPort(port)).toBe('hello');
    gatehouse.signal('SIGTERM');
    expect(await gatehouse.exited()).toBe(0);
    expect(first.spans.filter(isOfRequest)).toHaveLength(1);
    expect(second.spans.filter(isOfRequest)).toHaveLength(2);
  });

  test('with a changed secret from its file', async () => {
    const collector = keep(await Collector.start());
    await directory.write('api-key', 'x-api-key=one');
    await configure(`
otel_traces_exporter: otlp
otel_exporter_otlp_endpoint: ${collector.endpoint('http/protobuf')}
otel_exporter_otlp_headers_file: api-key
otel_bsp_schedule_delay: 100
`);
    const gatehouse = await start();
    await directory.write('api-key', 'x-api-key=two');
    await applied(gatehouse, 1);

    expect(await askPort(port)).toBe('hello');
    await collector.span('the request', isOfRequest);
    expect(collector.exports.map(({ headers }) => headers['x-api-key'])).toEqual(['two']);
    expect(JSON.stringify(gatehouse.log)).not.toContain('x-api-key');
  });

  test('as its environment says, which wins', async () => {
    const [wanted, other] = [keep(await Collector.start()), keep(await Collector.start())];
    await configure(`
otel_traces_exporter: none
otel_exporter_otlp_traces_endpoint: ${other.endpoint('http/json')}/v1/traces
otel_exporter_otlp_protocol: http/json
otel_exporter_otlp_headers: [x-file=a]
otel_traces_sampler_arg: 0
otel_attribute_value_length_limit: 3
`);
    await start({
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${wanted.endpoint('http/protobuf')}/`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-environment=a%2Cb,x-general=c',
      OTEL_TRACES_SAMPLER_ARG: '1.0',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '512',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=edge,service.instance.id=edge-1',
    });

    expect(await askPort(port)).toBe('hello');
    const span = await wanted.span('the request', isOfRequest);
    expect(span.resource).toMatchObject({
      'service.name': 'edge',
      'service.instance.id': 'edge-1',
    });
    expect(span.attributes).toMatchObject({ 'gatehouse.route.name': 'default/hello' });
    expect(wanted.exports[0]).toMatchObject({
      protocol: 'http/protobuf',
      headers: { 'x-environment': 'a,b', 'x-general': 'c' },
    });
    expect(wanted.exports[0]?.headers).not.toHaveProperty('x-file');
    expect(other.exports).toEqual([]);
  });

  // OpenTelemetry's packages read these themselves where nothing is given to them.
  test.each(['grpc', 'http/protobuf', 'http/json'] as const)(
    'by %s, whatever other variables of OpenTelemetry there are',
    async (protocol) => {
      const collector = keep(await Collector.start());
      const other = keep(await Collector.start());
      await configure('otel_exporter_otlp_headers: [x-replaced=a]');
      await start({
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_ENDPOINT: other.endpoint(protocol),
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:
          collector.endpoint(protocol) + (protocol === 'grpc' ? '' : '/v1/traces'),
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-general=a',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-traces=b',
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_SDK_DISABLED: 'true',
        OTEL_SERVICE_NAME: 'other',
        OTEL_TRACES_SAMPLER: 'always_off',
        OTEL_PROPAGATORS: 'b3',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere',
        OTEL_EXPORTER_OTLP_CLIENT_KEY: '/nowhere',
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: '/nowhere',
        OTEL_EXPORTER_OTLP_INSECURE: 'false',
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '1',
        OTEL_ATTRIBUTE_COUNT_LIMIT: '1',
        OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '1',
        OTEL_BSP_MAX_QUEUE_SIZE: '1',
        OTEL_BSP_EXPORT_TIMEOUT: '1',
      });

      expect(await askPort(port)).toBe('hello');
      const span = await collector.span('the request', isOfRequest);
      expect(span.resource).toMatchObject({ 'service.name': 'gatehouse' });
      expect(span.attributes).toMatchObject({
        'gatehouse.route.name': 'default/hello',
        'http.response.status_code': 200,
      });
      const { headers = {} } = collector.exports[0] ?? {};
      expect(headers).toMatchObject({ 'x-traces': 'b' });
      expect(headers).not.toHaveProperty('x-general');
      expect(headers).not.toHaveProperty('x-replaced');
      expect(headers['content-encoding'] ?? 'identity').toBe('identity');
      expect(headers['grpc-encoding'] ?? 'identity').toBe('identity');
      expect(other.exports).toEqual([]);
    },
  );

  test('to nobody without an endpoint, logs that, and serves', async () => {
    await configure('otel_traces_exporter: otlp');
    const gatehouse = await start();

    expect(await askPort(port)).toBe('hello');
    expect(gatehouse.log).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'invalid configuration',
        path: 'otel_exporter_otlp_endpoint',
      }),
    );
    expect(gatehouse.log).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'tracing is off' }),
    );
  });
});

function isOfRequest({ kind }: { readonly kind: string }): boolean {
  return kind === 'server';
}

/** Writes the configuration: a route, and settings in the plain form. */
async function configure(settings: string): Promise<void> {
  const route = `{name: hello, from: 'http://localhost:${String(port)}', to: '${upstream.origin}', allow_public_unauthenticated_access: true}`;
  await directory.write('gatehouse.yaml', `${settings}\nroutes: [${route}]\n`);
}

/** Starts `gatehouse run`, and waits until it serves. */
async function start(variables: Readonly<Record<string, string>> = {}): Promise<GatehouseProcess> {
  const flags = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const gatehouse = keep(startGatehouse(['run', '--config', directory.path, ...flags], variables));
  await gatehouse.listening();
  return gatehouse;
}

/** Waits for a change of the configuration. */
async function applied(gatehouse: GatehouseProcess, count: number): Promise<void> {
  const times = (): number =>
    gatehouse.log.filter(
      ({ service, message }) => service === 'gatehouse' && message === 'configuration applied',
    ).length;
  await eventually('the change is applied', () => times() >= count);
}
