import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../../../../requirements/verifies.ts';
import { readTracingEnvironment } from '../../../../../../shared/telemetry/tracing/settings/read-tracing-environment.ts';
import { resolveTracing } from '../../../../../../shared/telemetry/tracing/settings/resolve-tracing.ts';

const BASE = { url: 'http://collector.example:4318', isComplete: false };

describe('the tracing that is in force', () => {
  verifies('tracing.defaults', 'has the defaults of the specification', () => {
    expect(resolveTracing({ exporter: 'otlp', endpoint: BASE }, {})).toEqual({
      exporter: 'otlp',
      endpoint: 'http://collector.example:4318/v1/traces',
      protocol: 'http/protobuf',
      headers: {},
      timeoutMs: 10_000,
      samplingRatio: 1,
      resourceAttributes: {},
      scheduleDelayMs: 5_000,
      maxExportBatchSize: 512,
      attributeValueLengthLimit: 256,
      logLevel: 'info',
      incomingContext: 'TrustedProxies',
    });
  });

  test.each([
    ['nothing is said', undefined, {}],
    ['there is no exporter', { endpoint: BASE }, {}],
    ['there is no endpoint', { exporter: 'otlp' as const }, {}],
    [
      'the environment says so',
      { exporter: 'otlp' as const, endpoint: BASE },
      { exporter: 'none' as const },
    ],
  ])('is off if %s', (_, settings, environment) => {
    expect(resolveTracing(settings, environment)).toBeUndefined();
  });

  const PORTS = [
    ['http://c.example:4317', 'grpc', 'http://c.example:4317'],
    ['http://c.example:4318', 'http/protobuf', 'http://c.example:4318/v1/traces'],
    ['https://c.example', 'http/protobuf', 'https://c.example/v1/traces'],
    ['https://c.example/otlp/', 'http/protobuf', 'https://c.example/otlp/v1/traces'],
    ['http://[::1]:4317/ignored', 'grpc', 'http://[::1]:4317'],
  ] as const;

  for (const [url, protocol, endpoint] of PORTS) {
    verifies(
      'tracing.protocol-inferred',
      `infers from the base ${url} the protocol ${protocol}`,
      () => {
        const tracing = resolveTracing(
          { exporter: 'otlp', endpoint: { url, isComplete: false } },
          {},
        );
        expect(tracing).toMatchObject({ protocol, endpoint });
      },
    );
  }

  test('uses the URL for traces as it is', () => {
    const endpoint = { url: 'https://c.example/spans?team=a', isComplete: true };
    expect(resolveTracing({ exporter: 'otlp', endpoint }, {})?.endpoint).toBe(endpoint.url);
  });

  test('has a protocol that is said, whatever the port is', () => {
    const settings = { exporter: 'otlp', endpoint: BASE, protocol: 'grpc' } as const;
    expect(resolveTracing(settings, {})).toMatchObject({
      protocol: 'grpc',
      endpoint: 'http://collector.example:4318',
    });
  });

  test('has settings of the environment as a whole, and the others of the settings', () => {
    const settings = {
      exporter: 'otlp',
      endpoint: { url: 'https://settings.example/spans', isComplete: true },
      headers: { 'x-settings': 'a' },
      samplingRatio: 0.5,
    } as const;
    const environment = readTracingEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://environment.example:4317',
      OTEL_EXPORTER_OTLP_HEADERS: 'X-Environment=b',
    });
    expect(resolveTracing(settings, environment)).toMatchObject({
      endpoint: 'http://environment.example:4317',
      protocol: 'grpc',
      headers: { 'x-environment': 'b' },
      samplingRatio: 0.5,
    });
  });
});
