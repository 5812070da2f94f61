import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { Collector } from '../../../../../support/collector/collector.ts';
import { PROTOCOLS } from '../../../../../support/tracing/exported-spans.ts';
import { tracingSettings } from '../../../../../support/tracing/recorded-spans.ts';

describe('a process', () => {
  it.each(PROTOCOLS)('ends though its collector hangs, by %s', async (protocol) => {
    await using collector = await Collector.start();
    collector.behavior = { kind: 'hang' };
    const path = protocol === 'grpc' ? '' : '/v1/traces';
    const endpoint = `${collector.endpoint(protocol)}${path}`;
    // Nothing else ends the export.
    const timeoutMs = 1e9;
    const program = `
      import { createTracer } from './shared/telemetry/tracing/create-tracer.ts';
      const logger = { info() {}, warn() {}, error() {} };
      const tracer = createTracer({ service: 'gatehouse-test', instance: 'test-1', logger });
      tracer.apply(${JSON.stringify(tracingSettings({ endpoint, protocol, timeoutMs }))});
      tracer.start('request', 'server').span.end();
      await tracer[Symbol.asyncDispose]();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(0);
    expect(collector.exports).toHaveLength(1);
  });
});
