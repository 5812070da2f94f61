import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { ClusterIssuerWatch } from '../../controller/watch/cluster-issuer-watch.ts';
import { ProviderCalls } from '../../proxy/identity-provider/provider-calls.ts';
import { TokenRefusedError } from '../../proxy/token-verification/token-refused-error.ts';
import { TokenVerifier } from '../../proxy/token-verification/token-verifier.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { CompilerCluster } from '../support/compiler-cluster.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { findBinaries } from '../support/kubernetes/real/find-binaries.ts';
import { RotatingApiServer } from '../support/kubernetes/real/rotating-api-server.ts';
import { podToken } from '../support/kubernetes/service-account-tokens.ts';
import { letTimePass } from '../support/let-time-pass.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createRecordingLogger } from '../support/redis/recording-logger.ts';

const AUDIENCE = 'https://gateway.example';
const AGENT = { namespace: 'agents', serviceAccount: 'reporter', pod: 'reporter-1' };
const LONGER_THAN_ANY_TOKEN_MS = 2 * 3_600_000;

const binaries = findBinaries();
if (binaries === undefined) console.warn('skipped without kube-apiserver: ServiceAccount tokens');

(binaries === undefined ? describe.skip : describe)('tokens of ServiceAccounts', () => {
  const opened = new AsyncDisposableStack();
  const clock = new ManualClock();
  const cluster = new CompilerCluster();
  let server: RotatingApiServer;
  let now = Date.now;

  beforeAll(async () => {
    if (binaries === undefined) return;
    server = opened.use(await RotatingApiServer.start(binaries));
    const provider = { name: 'cluster', issuerUrl: 'kubernetes:///', audiences: [AUDIENCE] };
    cluster.putSettings({ identityProviders: [provider] });
    opened.use(
      new ClusterIssuerWatch({
        ...{ clock, logger: createRecordingLogger() },
        api: { readIssuer: async (signal) => await server.api.readIssuer(signal) },
        onReading: (clusterIssuer) => void cluster.update({ clusterIssuer }),
      }),
    );
    await letTimePass(clock, 'the keys are published', () => publishedKeyIds().length > 0);
  });
  afterAll(() => opened.disposeAsync());

  function providers(): readonly CompiledIdentityProvider[] {
    return [...cluster.snapshot.values()].flatMap(({ value }) =>
      value.kind === 'identity-provider' ? [value] : [],
    );
  }

  function publishedKeyIds(): readonly string[] {
    return providers().flatMap(({ keys = [] }) => keys.map(({ kid }) => kid));
  }

  /** Returns the subject of a token, or the reason for which a proxy refuses it. */
  async function verdictOn(token: string): Promise<string> {
    const discovery = {
      calls: new ProviderCalls(),
      clientOf: () => Promise.reject(new Error('nobody is asked')),
    };
    const verifier = new TokenVerifier({ discovery, devAllowLoopback: false, now: () => now() });
    const trusted = { find: () => undefined, all: providers };
    try {
      return (await verifier.verify(token, { format: 'jwt' }, trusted)).identity.subject;
    } catch (error) {
      if (error instanceof TokenRefusedError) return error.reason;
      throw error;
    }
  }

  const tokenFor = (audience: string): Promise<string> =>
    podToken(server.admin, { ...AGENT, audience });

  test('are accepted for the audience of the gateway', async () => {
    expect(await verdictOn(await tokenFor(AUDIENCE))).toBe('system:serviceaccount:agents:reporter');
  });

  test('are refused for another audience', async () => {
    expect(await verdictOn(await tokenFor('https://other.example'))).toBe('wrong-audience');
  });

  test('are refused after they have expired', async () => {
    const token = await tokenFor(AUDIENCE);
    now = () => Date.now() + LONGER_THAN_ANY_TOKEN_MS;

    expect(await verdictOn(token)).toBe('token-expired');
    now = Date.now;
  });

  // It has the same issuer, as most clusters do.
  test('are refused from another cluster', async () => {
    await using other = await startFakeCluster();
    const token = await other.proxyToken({ ...AGENT, audience: AUDIENCE });

    expect(await verdictOn(token)).toBe('unknown-key');
  });

  test('are accepted while the API server is away, and refused once it has another key', async () => {
    const old = await tokenFor(AUDIENCE);
    const before = publishedKeyIds();
    await server.stop();
    await clock.advance(5 * 60_000);
    expect(await verdictOn(old)).toBe('system:serviceaccount:agents:reporter');
    await server.startWithAnotherKey();
    await letTimePass(clock, 'the key is replaced', () => publishedKeyIds()[0] !== before[0]);

    expect(await verdictOn(old)).toBe('unknown-key');
    expect(await verdictOn(await tokenFor(AUDIENCE))).toBe('system:serviceaccount:agents:reporter');
  });
});
