import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../../support/command-line.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

const ROUTE = `
routes:
  - name: app
    from: http://localhost:8081
    to: http://localhost:8000
    allow_public_unauthenticated_access: true
`;
const ON = 'otel_traces_exporter: otlp';
const ENDPOINT = 'otel_exporter_otlp_endpoint: http://127.0.0.1:4318';

describe('gatehouse validate notes', () => {
  test.each([
    {
      what: 'spans that go nowhere by the environment',
      settings: '',
      environment: { OTEL_TRACES_EXPORTER: 'otlp' },
      note: 'tracing is off: OTEL_TRACES_EXPORTER is otlp in this environment, and no endpoint is set',
    },
    {
      what: 'an endpoint without an exporter',
      settings: ENDPOINT,
      environment: {},
      note: 'tracing is off: an endpoint is set, and otel_traces_exporter is not otlp',
    },
    {
      what: 'an endpoint of the environment without an exporter',
      settings: '',
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
      note: 'tracing is off: an endpoint is set, and OTEL_TRACES_EXPORTER is not otlp',
    },
    {
      what: 'a base that has the path which is appended',
      settings: `${ON}\n${ENDPOINT}/v1/traces`,
      environment: {},
      note: 'spans go to http://127.0.0.1:4318/v1/traces/v1/traces: leave /v1/traces out of the endpoint, to which it is appended',
    },
  ])('$what', async ({ settings, environment, note }) => {
    const { code, lines } = await validate(settings, environment);
    expect(lines).toEqual([
      `${directory.path}: note: ${note}`,
      expect.stringContaining('no problems'),
    ]);
    expect(code).toBe(0);
  });

  test.each([
    { settings: `${ON}\n${ENDPOINT}` },
    { settings: `otel_traces_exporter: none\n${ENDPOINT}` },
    { settings: `${ON}\n${ENDPOINT}/v1/traces\notel_exporter_otlp_protocol: grpc` },
    { settings: `${ON}\notel_exporter_otlp_traces_endpoint: http://127.0.0.1:4318/v1/traces` },
  ])('nothing about $settings', async ({ settings }) => {
    const { lines } = await validate(settings, {});
    expect(lines).toEqual([expect.stringContaining('no problems')]);
  });
});

async function validate(
  settings: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  await directory.write('gatehouse.yaml', `${settings}\n${ROUTE}`);
  const { code, stdout } = await runInProcess(['validate', '-f', directory.path], environment);
  return { code, lines: stdout.trimEnd().split('\n') };
}
