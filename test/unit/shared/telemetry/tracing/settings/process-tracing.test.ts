import { describe, expect, test } from '@jest/globals';

import type { CompiledTracing } from '../../../../../../shared/snapshot/compiled-tracing.ts';
import { ProcessTracing } from '../../../../../../shared/telemetry/tracing/settings/process-tracing.ts';
import { Tracer } from '../../../../../../shared/telemetry/tracing/tracer.ts';
import type { TracingSettings } from '../../../../../../shared/telemetry/tracing/tracing-settings.ts';

const ENDPOINT = { url: 'http://collector.example:4318', isComplete: false };

describe('the tracing of a process', () => {
  test('is off until settings are applied', () => {
    expect(open({ exporter: 'otlp', endpoint: ENDPOINT }).tracing.tracer.isOn).toBe(false);
  });

  test('is by the settings, and by the environment where it says something', () => {
    const { tracing } = open({ samplingRatio: 0.5 });
    tracing.apply({ exporter: 'otlp', endpoint: ENDPOINT, samplingRatio: 1, timeoutMs: 1 });
    expect(tracing.tracer.settings).toMatchObject({ samplingRatio: 0.5, timeoutMs: 1 });
  });

  test('changes with the settings, and not otherwise', () => {
    const { tracing, applied } = open({});
    const on = { exporter: 'otlp', endpoint: ENDPOINT } as const;
    tracing.apply(on);
    tracing.apply({ ...on });
    expect(applied).toHaveLength(1);
    tracing.apply({ ...on, headers: { 'x-api-key': 'new' } });
    expect(applied.at(-1)).toMatchObject({ headers: { 'x-api-key': 'new' } });
    tracing.apply(undefined);
    expect(applied).toHaveLength(3);
    expect(tracing.tracer.isOn).toBe(false);
  });

  test('is off without an endpoint, and says so once', () => {
    const { tracing, logged } = open({ exporter: 'otlp' });
    tracing.apply(undefined);
    tracing.apply(undefined);
    expect(tracing.tracer.isOn).toBe(false);
    expect(logged).toEqual([
      [
        'tracing is off',
        {
          problem:
            'the exporter otlp needs an endpoint: set OTEL_EXPORTER_OTLP_ENDPOINT, or spec.tracing.endpoint of the GatewaySettings',
        },
      ],
    ]);
    tracing.apply({ endpoint: ENDPOINT });
    expect(tracing.tracer.isOn).toBe(true);
    expect(logged).toHaveLength(1);
  });
});

function open(environment: CompiledTracing): {
  readonly tracing: ProcessTracing;
  /** What the exporter was given, in turn. */
  readonly applied: readonly (TracingSettings | undefined)[];
  readonly logged: readonly unknown[];
} {
  const applied: (TracingSettings | undefined)[] = [];
  const logged: unknown[] = [];
  const tracer = new Tracer({
    exported: 0,
    dropped: 0,
    add: () => undefined,
    apply: (settings) => void applied.push(settings),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const logger = { error: (...record: unknown[]) => void logged.push(record) };
  return { tracing: new ProcessTracing({ tracer, environment, logger }), applied, logged };
}
