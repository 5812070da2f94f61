import { describe, expect, test } from '@jest/globals';

import { CompilerCluster } from '../../../../support/compiler-cluster.ts';
import { secret } from './settings-with-secret.ts';

const COLLECTOR = 'gatehouse/collector';
const HEADER = {
  name: 'x-api-key',
  valueFrom: { secretKeyRef: { name: 'collector', key: 'secret' } },
};
const TRACING = { tracesExporter: 'otlp', endpoint: 'http://collector:4317', headers: [HEADER] };

describe('tracing in the settings of a cluster', () => {
  test('gets the values of header fields from Secrets, and follows them', () => {
    const cluster = new CompilerCluster();
    cluster.change(secret('one', COLLECTOR));
    cluster.putSettings({ tracing: TRACING });

    expect(cluster.compiler.secretNames).toEqual(new Set([COLLECTOR]));
    expect(tracing(cluster)).toMatchObject({ headers: { 'x-api-key': 'one' } });

    cluster.change(secret('two', COLLECTOR));

    expect(tracing(cluster)).toMatchObject({ headers: { 'x-api-key': 'two' } });
  });

  test('is off without its Secret, and everything else of the settings serves', () => {
    const cluster = new CompilerCluster();
    cluster.change(secret('one', COLLECTOR));
    cluster.putSettings({ tracing: TRACING, cookie: { expiration: '1h' } });
    cluster.change(secret(undefined, COLLECTOR));

    expect(tracing(cluster)).toBeUndefined();
    expect(cluster.settingsVerdict).toMatchObject({
      isAccepted: true,
      problems: [
        {
          path: 'spec.tracing.headers[0].valueFrom',
          reason: 'TracingNotUsable',
          message: `there is no Secret ${COLLECTOR}; tracing is off`,
        },
      ],
      served: { generation: 1 },
    });

    cluster.change(secret('two', COLLECTOR));

    expect(tracing(cluster)).toMatchObject({ headers: { 'x-api-key': 'two' } });
    expect(cluster.settingsVerdict).toMatchObject({ isAccepted: true, problems: [] });
  });

  test('needs no Secret of a list that another one replaces', () => {
    const cluster = new CompilerCluster();
    const tracesHeaders = [{ name: 'x-team', value: 'a' }];
    cluster.putSettings({ tracing: { ...TRACING, tracesHeaders } });

    expect(cluster.compiler.secretNames).toEqual(new Set());
    expect(tracing(cluster)).toMatchObject({ headers: { 'x-team': 'a' } });
  });
});

function tracing(cluster: CompilerCluster): unknown {
  const value = cluster.snapshot.get('settings')?.value;
  return value?.kind === 'settings' ? value.tracing : undefined;
}
