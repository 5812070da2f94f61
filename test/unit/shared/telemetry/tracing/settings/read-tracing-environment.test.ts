import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../../../../requirements/verifies.ts';
import {
  readTracingEnvironment,
  TracingVariableError,
} from '../../../../../../shared/telemetry/tracing/settings/read-tracing-environment.ts';

describe('variables about tracing', () => {
  verifies(['tracing.variables', 'tracing.pairs'], 'set every setting', () => {
    const environment = {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a%2Cb==, x-team = c ,',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=ops',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
      OTEL_LOG_LEVEL: 'verbose',
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '1024',
    };
    expect(readTracingEnvironment(environment)).toEqual({
      exporter: 'otlp',
      endpoint: { url: 'http://c.example:4317', isComplete: false },
      protocol: 'http/json',
      headers: { 'api-key': 'a,b==', 'x-team': 'c' },
      timeoutMs: 2_000,
      samplingRatio: 0.25,
      resourceAttributes: { 'service.namespace': 'ops' },
      scheduleDelayMs: 100,
      maxExportBatchSize: 1,
      logLevel: 'verbose',
      attributeValueLengthLimit: 1_024,
    });
  });

  const SPELLINGS = [
    [
      'ENDPOINT',
      'http://a.example',
      'http://b.example',
      { endpoint: { url: 'http://b.example', isComplete: true } },
    ],
    ['PROTOCOL', 'grpc', 'http/protobuf', { protocol: 'http/protobuf' }],
    ['HEADERS', 'a=b,c=d', 'a=e', { headers: { a: 'e' } }],
    ['TIMEOUT', '1', '2', { timeoutMs: 2 }],
  ] as const;

  for (const [setting, general, traces, settings] of SPELLINGS) {
    verifies('tracing.traces-spelling', `with TRACES win for ${setting}`, () => {
      const environment = {
        [`OTEL_EXPORTER_OTLP_${setting}`]: general,
        [`OTEL_EXPORTER_OTLP_TRACES_${setting}`]: traces,
      };
      expect(readTracingEnvironment(environment)).toEqual(settings);
    });
  }

  test('that are empty or of other names say nothing', () => {
    const environment = {
      OTEL_TRACES_EXPORTER: ' ',
      OTEL_LOG_LEVEL: '',
      OTEL_SDK_DISABLED: 'true',
    };
    expect(readTracingEnvironment(environment)).toEqual({});
  });

  test.each(['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all'])(
    'may have the log level %s',
    (logLevel) => {
      expect(readTracingEnvironment({ OTEL_LOG_LEVEL: logLevel })).toEqual({ logLevel });
    },
  );

  test('may have their words in any case', () => {
    const environment = { OTEL_TRACES_EXPORTER: 'OTLP', OTEL_LOG_LEVEL: 'Warn' };
    expect(readTracingEnvironment(environment)).toEqual({ exporter: 'otlp', logLevel: 'warn' });
  });

  verifies('tracing.ranges', 'may have the ends of their ranges, and nothing outside', () => {
    const ranges = [
      ['OTEL_BSP_SCHEDULE_DELAY', ['100', '2147483647'], ['99', '-100', '2147483648']],
      ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', ['1', '2147483647'], ['0', '-1', '2147483648']],
      ['OTEL_TRACES_SAMPLER_ARG', ['0', '1', '1.0', '0.5', '1e-3'], ['-0.1', '1.1', '1e1']],
    ] as const;
    for (const [variable, within, outside] of ranges) {
      for (const text of within) {
        expect(Object.values(readTracingEnvironment({ [variable]: text }))).toEqual([Number(text)]);
      }
      for (const text of outside) {
        expect(() => readTracingEnvironment({ [variable]: text })).toThrow(variable);
      }
    }
  });

  const NUMBER = 'must be a whole number from';
  const MILLISECONDS = 'must be a whole number of milliseconds from';
  const BASE = 'must be an http or https URL without user, query and fragment';
  const PAIRS = 'must be pairs such as key=value, separated by commas';
  test.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be one of otlp, none'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', BASE],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:password@c.example', BASE],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://c.example?a=b', BASE],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'c', BASE.replace(', query', '')],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http', 'must be one of grpc, http/protobuf, http/json'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'tcp', 'must be one of grpc, http/protobuf, http/json'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', '=secret', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%E4', PAIRS],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'a b=c',
      'must have the name of a header field such as X-Api-Key',
    ],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Host=c', 'must not have host, which the exporter sets itself'],
    ...['proxy-connection', 'http2-settings'].map((name): [string, string, string] => [
      'OTEL_EXPORTER_OTLP_HEADERS',
      `${name}=c`,
      `must not have ${name}, which the exporter sets itself`,
    ]),
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key-bin=c', 'must not have key-bin, which is special in gRPC'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=%0A', 'must have a value of ASCII characters for a'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', `${MILLISECONDS} 1 to 2147483647`],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', `${MILLISECONDS} 1 to 2147483647`],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '1.5', `${MILLISECONDS} 1 to 2147483647`],
    ['OTEL_TRACES_SAMPLER_ARG', '1.01', 'must be a number from 0 to 1 such as 0.25'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.1', 'must be a number from 0 to 1 such as 0.25'],
    ['OTEL_TRACES_SAMPLER_ARG', 'NaN', 'must be a number from 0 to 1 such as 0.25'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a', PAIRS],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=\u{FFFD}', 'must not have the character U+FFFD'],
    ['OTEL_BSP_SCHEDULE_DELAY', '99', `${MILLISECONDS} 100 to 2147483647`],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0', `${NUMBER} 1 to 2147483647`],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '2147483648', `${NUMBER} 1 to 2147483647`],
    ['OTEL_LOG_LEVEL', 'trace', 'must be one of none, error, warn, info, debug, verbose, all'],
    ['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', '0', `${NUMBER} 1 to 2147483647`],
  ])('%s cannot be %s', (variable, text, message) => {
    expect(() => readTracingEnvironment({ [variable]: text })).toThrow(
      new TracingVariableError(`${variable} ${message}`),
    );
  });

  test('are all read, so that a bad one is found that another one hides', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '5000',
    };
    expect(() => readTracingEnvironment(environment)).toThrow(/^OTEL_EXPORTER_OTLP_TIMEOUT must /);
  });
});
