import { describe, expect, test } from '@jest/globals';

import { FileConfiguration } from '../../../../controller/files/file-configuration.ts';
import { readCandidates } from '../../../../controller/files/candidates.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import type { CompiledTracing } from '../../../../shared/snapshot/compiled-tracing.ts';
import { verifies } from '../../../requirements/verifies.ts';
import { contentsOf } from './contents-of.ts';
import { FILE, readPlainForm } from './read-plain-form.ts';

const WHOLE = `
otel_traces_exporter: otlp
otel_exporter_otlp_endpoint: http://a.example:4317
otel_exporter_otlp_traces_endpoint: http://b.example/spans
otel_exporter_otlp_protocol: grpc
otel_exporter_otlp_traces_protocol: http/json
otel_exporter_otlp_headers: [general=a]
otel_exporter_otlp_traces_headers: ['api-key=b=, c', x-team = d]
otel_exporter_otlp_timeout: 1000
otel_exporter_otlp_traces_timeout: 2000
otel_traces_sampler_arg: 0.25
otel_resource_attributes: [deployment.environment.name=test]
otel_bsp_schedule_delay: 100
otel_bsp_max_export_batch_size: 1
otel_log_level: all
otel_attribute_value_length_limit: 1024
tracing_incoming_context: NewTrace
`;

describe('tracing in the plain form', () => {
  verifies('tracing.keys', 'has every setting, and the values of header fields are secrets', () => {
    const { resources, problems } = readPlainForm(WHOLE);
    expect(problems).toEqual([]);
    const secret = (key: string): unknown => ({ secretKeyRef: { name: 'gatehouse', key } });
    expect(resources).toMatchObject([
      {
        spec: {
          tracing: {
            tracesExporter: 'otlp',
            endpoint: 'http://a.example:4317',
            tracesEndpoint: 'http://b.example/spans',
            protocol: 'grpc',
            tracesProtocol: 'http/json',
            headers: [{ name: 'general', valueFrom: secret('tracing-headers-0') }],
            tracesHeaders: [
              { name: 'api-key', valueFrom: secret('tracing-tracesheaders-0') },
              { name: 'x-team', valueFrom: secret('tracing-tracesheaders-1') },
            ],
            timeoutMilliseconds: 1_000,
            tracesTimeoutMilliseconds: 2_000,
            samplerArg: '0.25',
            resourceAttributes: [{ name: 'deployment.environment.name', value: 'test' }],
            bspScheduleDelayMilliseconds: 100,
            bspMaxExportBatchSize: 1,
            logLevel: 'all',
            attributeValueLengthLimit: 1_024,
            incomingContext: 'NewTrace',
          },
        },
      },
      {
        kind: 'Secret',
        values: new Map([
          ['tracing-headers-0', Buffer.from('a')],
          ['tracing-tracesheaders-0', Buffer.from('b=, c')],
          ['tracing-tracesheaders-1', Buffer.from('d')],
        ]),
      },
    ]);
  });

  test('has header fields from a file, one a line', () => {
    const text = `
      otel_traces_exporter: otlp
      otel_exporter_otlp_endpoint: http://a.example
      otel_exporter_otlp_headers_file: /run/secrets/collector
    `;
    const { tracing, problems } = compile(text, { '/run/secrets/collector': 'a=b\nc=d, e\n' });
    expect(problems).toEqual([]);
    expect(tracing?.headers).toEqual({ a: 'b', c: 'd, e' });
  });

  test.each(['0', '1', '1.0', '1e-7', '"0.5"'])(
    'may have the sampling probability %s',
    (number) => {
      const { tracing, problems } = compile(`otel_traces_sampler_arg: ${number}`);
      expect(problems).toEqual([]);
      expect(tracing).toEqual({ samplingRatio: Number(number.replaceAll('"', '')) });
    },
  );

  const refused = '/etc/gatehouse/config.yaml:1 (document 1) GatewaySettings default/gatehouse: ';
  test.each([
    ['otel_traces_exporter: jaeger', 'otel_traces_exporter: must be one of otlp, none'],
    [
      'otel_exporter_otlp_endpoint: collector:4317',
      'otel_exporter_otlp_endpoint: must be an http or https URL without user, query and fragment',
    ],
    [
      'otel_exporter_otlp_protocol: http',
      'otel_exporter_otlp_protocol: must be one of grpc, http/protobuf, http/json',
    ],
    [
      'otel_exporter_otlp_headers: api-key=hunter2',
      'otel_exporter_otlp_headers: must be a list of texts such as key=value',
    ],
    [
      'otel_exporter_otlp_headers: [a=b, hunter2]',
      'otel_exporter_otlp_headers[1]: must be a text such as key=value',
    ],
    [
      'otel_exporter_otlp_traces_headers: ["a b=hunter2"]',
      'otel_exporter_otlp_traces_headers[0].name: must be the name of a header field such as X-Real-IP',
    ],
    [
      '{otel_exporter_otlp_headers: [a=b], otel_exporter_otlp_headers_file: f}',
      'otel_exporter_otlp_headers_file: cannot be combined with otel_exporter_otlp_headers',
    ],
    [
      'otel_exporter_otlp_headers_file: nowhere',
      'otel_exporter_otlp_headers_file: the file nowhere cannot be read',
    ],
    ['otel_exporter_otlp_timeout: 0', 'otel_exporter_otlp_timeout: must be at least 1'],
    [
      'otel_exporter_otlp_timeout: 10s',
      'otel_exporter_otlp_timeout: must be an integer, in milliseconds',
    ],
    ['otel_traces_sampler_arg: 1.5', 'otel_traces_sampler_arg: must be at most 1'],
    [
      'otel_traces_sampler_arg: half',
      'otel_traces_sampler_arg: must be a number from 0 to 1 in quotes, such as "0.25"',
    ],
    [
      'otel_resource_attributes: {a: b}',
      'otel_resource_attributes: must be a list of texts such as key=value',
    ],
    ['otel_bsp_schedule_delay: 99', 'otel_bsp_schedule_delay: must be at least 100'],
    ['otel_bsp_max_export_batch_size: 0', 'otel_bsp_max_export_batch_size: must be at least 1'],
    [
      'otel_log_level: trace',
      'otel_log_level: must be one of none, error, warn, info, debug, verbose, all',
    ],
    [
      'otel_attribute_value_length_limit: 0',
      'otel_attribute_value_length_limit: must be at least 1',
    ],
    [
      'otel_sdk_disabled: true',
      expect.stringContaining(
        'otel_sdk_disabled: unknown key "otel_sdk_disabled"',
      ) as unknown as string,
    ],
  ])('is refused with %s', (text, problem) => {
    const { problems } = compile(text);
    expect(problems).toEqual([
      typeof problem === 'string' ? `${refused}${problem} [InvalidSpec]` : problem,
    ]);
    expect(problems.join()).not.toContain('hunter2');
  });

  describe('with an exporter and without an endpoint', () => {
    const text = 'otel_traces_exporter: otlp';

    test('is a problem, and everything else serves', () => {
      const { tracing, problems } = compile(text);
      expect(problems).toEqual([
        `${refused}otel_exporter_otlp_endpoint: is required for otel_traces_exporter otlp; tracing is off wherever OTEL_EXPORTER_OTLP_ENDPOINT is not set [TracingNotUsable]`,
      ]);
      expect(tracing).toEqual({ exporter: 'otlp' });
    });

    test.each<CompiledTracing>([
      { endpoint: { url: 'http://a.example', isComplete: false } },
      { exporter: 'none' },
    ])('is no problem if the environment says %j', (environment) => {
      expect(compile(text, {}, environment).problems).toEqual([]);
    });
  });
});

/** Compiles a plain form with an environment that says this about tracing. */
function compile(
  text: string,
  secretFiles: Readonly<Record<string, string>> = {},
  tracingEnvironment: CompiledTracing = {},
): { readonly tracing: CompiledTracing | undefined; readonly problems: readonly string[] } {
  const configuration = new FileConfiguration({ devAllowLoopback: false, tracingEnvironment });
  const candidates = readCandidates(contentsOf({ [FILE]: text }, secretFiles), []);
  const { served, problems } = configuration.update(candidates);
  const settings = served?.snapshot.resources.get('settings')?.value;
  return {
    tracing: settings?.kind === 'settings' ? settings.tracing : undefined,
    problems: problems.map(formatProblem),
  };
}
