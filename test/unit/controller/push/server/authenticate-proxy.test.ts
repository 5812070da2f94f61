import { describe, expect, it } from '@jest/globals';

import {
  createProxyAuthenticator,
  type AuthenticateProxy,
} from '../../../../../controller/push/server/authenticate-proxy.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
} from '../../../../../controller/kubernetes/kubernetes-api.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const SECOND = 1000;
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const NOW = 1_800_000_000 * SECOND;

/** An unsigned token that expires in that many seconds. */
function aToken(seconds: number, jti = 'one', others: object = {}): string {
  const part = (claims: object): string =>
    Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ ...CLAIMS, exp: NOW / SECOND + seconds, jti, ...others })}.signature`;
}

/** The claims of a token for a proxy. */
const CLAIMS = {
  aud: ['gatehouse-controller'],
  sub: 'system:serviceaccount:gatehouse:gatehouse-proxy',
  'kubernetes.io': { namespace: 'gatehouse', pod: { name: 'proxy-0' } },
};
const GOOD_USER = {
  username: 'system:serviceaccount:gatehouse:gatehouse-proxy',
  extra: { [POD_NAME]: ['proxy-0'] },
};
const GOOD = { authenticated: true, audiences: ['gatehouse-controller'], user: GOOD_USER };

interface Reviews {
  readonly authenticate: AuthenticateProxy;
  readonly requests: object[];
  readonly logged: readonly unknown[];
  pass(seconds: number): void;
  /** Moves the wall clock alone. */
  setWallTime(seconds: number): void;
  answerWith(next: () => unknown): void;
}

function reviewing(status: unknown): Reviews {
  let answer: () => unknown = () => ({ metadata: { name: '' }, status });
  const clock = new ManualClock();
  let wall = NOW;
  const requests: object[] = [];
  const logger = createRecordingLogger();
  const create: KubernetesApi['create'] = async (type, namespace, object) => {
    expect([type.group, type.plural, namespace]).toEqual([
      'authentication.k8s.io',
      'tokenreviews',
      undefined,
    ]);
    requests.push(object);
    // The response of an API server may be anything.
    return (await answer()) as Awaited<ReturnType<KubernetesApi['create']>>;
  };
  return {
    requests,
    logged: logger.records,
    pass: (seconds) => {
      clock.sleep(seconds * SECOND);
      wall += seconds * SECOND;
    },
    setWallTime: (seconds) => (wall += seconds * SECOND),
    answerWith: (next) => (answer = next),
    authenticate: createProxyAuthenticator({
      api: { create },
      namespace: 'gatehouse',
      serviceAccount: 'gatehouse-proxy',
      logger,
      clock,
      wallTime: () => wall,
    }),
  };
}

const TOKEN = aToken(3600);
const ADDRESS = '10.0.0.1';
const CREDENTIALS = { token: TOKEN, proxyId: 'proxy-0', address: ADDRESS };

describe('the authentication of a proxy', () => {
  it('accepts the holder that the API server names', async () => {
    const { authenticate, requests } = reviewing(GOOD);
    expect(await authenticate(CREDENTIALS)).toEqual({ kind: 'authenticated' });
    expect(requests).toEqual([
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: TOKEN, audiences: ['gatehouse-controller'] },
      },
    ]);
  });

  it.each([
    ['a token that is not valid', { authenticated: false }, 401],
    ['an empty response', undefined, 401],
    ['a text in place of true', { ...GOOD, authenticated: 'true' }, 401],
    [
      'a token for another audience',
      { ...GOOD, audiences: ['https://kubernetes.default.svc'] },
      401,
    ],
    ['a token for no audience', { ...GOOD, audiences: undefined }, 401],
    ['another account', { ...GOOD, user: { ...GOOD_USER, username: 'system:admin' } }, 403],
    [
      'the account of another namespace',
      { ...GOOD, user: { ...GOOD_USER, username: 'system:serviceaccount:x:gatehouse-proxy' } },
      403,
    ],
    ['another pod', { ...GOOD, user: { ...GOOD_USER, extra: { [POD_NAME]: ['proxy-1'] } } }, 403],
    ['no pod', { ...GOOD, user: { username: GOOD_USER.username } }, 403],
    ['an empty list of pods', { ...GOOD, user: { ...GOOD_USER, extra: { [POD_NAME]: [] } } }, 403],
    [
      'two pods',
      { ...GOOD, user: { ...GOOD_USER, extra: { [POD_NAME]: ['proxy-0', 'proxy-1'] } } },
      403,
    ],
    [
      'a pod that is not in a list',
      { ...GOOD, user: { ...GOOD_USER, extra: { [POD_NAME]: 'proxy-0' } } },
      403,
    ],
  ])('refuses a review with %s', async (_, status, code) => {
    const { authenticate } = reviewing(status);
    expect(await authenticate(CREDENTIALS)).toMatchObject({ kind: 'refused', status: code });
  });

  it.each([
    ['is not a JWT', 'junk', 401],
    ['does not hold JSON', 'a.b.c', 401],
    ['has expired', aToken(-61), 401],
    [
      'is for another audience',
      aToken(60, 'one', { aud: ['https://kubernetes.default.svc'] }),
      401,
    ],
    ['is of another account', aToken(60, 'one', { sub: 'system:serviceaccount:x:y' }), 403],
    [
      'is of another pod',
      aToken(60, 'one', { 'kubernetes.io': { pod: { name: 'proxy-1' } } }),
      403,
    ],
    ['is of no pod', aToken(60, 'one', { 'kubernetes.io': {} }), 403],
  ])('refuses a token that %s without a review', async (_, token, code) => {
    const { authenticate, requests } = reviewing(GOOD);
    expect(await authenticate({ ...CREDENTIALS, token })).toMatchObject({ status: code });
    expect(requests).toEqual([]);
  });

  it.each([
    [
      'another namespace',
      { sub: 'system:serviceaccount:finance:gatehouse-proxy' },
      {
        reason: 'not-a-proxy',
        detail: { tokenOf: 'finance/gatehouse-proxy', expected: 'gatehouse/gatehouse-proxy' },
      },
    ],
    [
      'another pod',
      { 'kubernetes.io': { pod: { name: 'proxy-1' } } },
      {
        reason: 'not-this-proxy',
        detail: { tokenOf: 'gatehouse/gatehouse-proxy', pod: 'proxy-1', expected: 'proxy-0' },
      },
    ],
    [
      'no pod',
      { 'kubernetes.io': {} },
      { reason: 'not-this-proxy', detail: { pod: 'none', expected: 'proxy-0' } },
    ],
    [
      'another audience',
      { aud: ['https://kubernetes.default.svc'] },
      {
        reason: 'wrong-audience',
        detail: { audience: 'https://kubernetes.default.svc', expected: 'gatehouse-controller' },
      },
    ],
    [
      'an invented account',
      { sub: 'system:serviceaccount:a\n:b', aud: 'gatehouse-controller' },
      { reason: 'not-a-proxy', detail: { tokenOf: 'unknown' } },
    ],
  ])('names the holder of a token of %s, for the log', async (_, others, refusal) => {
    const { authenticate } = reviewing(GOOD);
    const answer = await authenticate({ ...CREDENTIALS, token: aToken(60, 'one', others) });
    expect(answer).toMatchObject(refusal);
  });

  it('reviews a token again after a minute even if the wall clock was set back', async () => {
    const reviews = reviewing(GOOD);
    await reviews.authenticate(CREDENTIALS);
    reviews.setWallTime(-600);
    reviews.pass(61);
    reviews.answerWith(() => ({ status: { authenticated: false } }));
    expect(await reviews.authenticate(CREDENTIALS)).toMatchObject({ status: 401 });
  });

  it('reviews a token once per minute, and compares it with every proxy id', async () => {
    const reviews = reviewing(GOOD);
    await Promise.all([reviews.authenticate(CREDENTIALS), reviews.authenticate(CREDENTIALS)]);
    reviews.pass(59);
    await reviews.authenticate(CREDENTIALS);
    expect(reviews.requests).toHaveLength(1);
    const other = await reviews.authenticate({ ...CREDENTIALS, proxyId: 'proxy-1' });
    expect(other).toMatchObject({ status: 403 });
    reviews.pass(2);
    await reviews.authenticate(CREDENTIALS);
    expect(reviews.requests).toHaveLength(2);
  });

  it('reviews a token again when it has expired', async () => {
    const reviews = reviewing(GOOD);
    const credentials = { ...CREDENTIALS, token: aToken(10) };
    await reviews.authenticate(credentials);
    reviews.pass(11);
    reviews.answerWith(() => ({ status: { authenticated: false } }));
    expect(await reviews.authenticate(credentials)).toMatchObject({ status: 401 });
  });

  it('refuses proxies while the API server is away, and logs no token', async () => {
    const reviews = reviewing(GOOD);
    reviews.answerWith(() => {
      throw new Error(`could not send ${TOKEN}`);
    });
    expect(await reviews.authenticate(CREDENTIALS)).toMatchObject({ status: 503 });
    reviews.answerWith(() => {
      throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, `forbidden: ${TOKEN}`);
    });
    expect(await reviews.authenticate(CREDENTIALS)).toMatchObject({ status: 503 });
    expect(reviews.logged).toHaveLength(1);
    expect(JSON.stringify(reviews.logged)).not.toContain(TOKEN);
    reviews.answerWith(() => ({ status: GOOD }));
    expect(await reviews.authenticate(CREDENTIALS)).toEqual({ kind: 'authenticated' });
  });

  it('accepts a proxy while strangers use up the reviews of their address', async () => {
    const reviews = reviewing(GOOD);
    await reviews.authenticate(CREDENTIALS);
    reviews.answerWith(() => ({ status: { authenticated: false } }));
    const statuses = new Set<unknown>();
    for (let index = 0; index < 1000; index += 1) {
      const token = aToken(60, String(index));
      const answer = await reviews.authenticate({ token, proxyId: 'proxy-0', address: '10.6.6.6' });
      statuses.add('status' in answer ? answer.status : 200);
    }
    expect(statuses).toEqual(new Set([401, 503]));
    expect(reviews.requests.length).toBeLessThan(25);
    const other = { ...CREDENTIALS, token: aToken(60, 'another') };
    reviews.answerWith(() => ({ status: GOOD }));
    expect(await reviews.authenticate(other)).toEqual({ kind: 'authenticated' });
    expect(await reviews.authenticate(CREDENTIALS)).toEqual({ kind: 'authenticated' });
  });
});
