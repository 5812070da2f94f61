import { describe, expect, it } from '@jest/globals';

import {
  createProxyAuthenticator,
  type AuthenticateProxy,
} from '../../../../controller/push/authenticate-proxy.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
} from '../../../../controller/kubernetes/kubernetes-api.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';

const SECOND = 1000;
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const NOW = 1_800_000_000 * SECOND;

/** A token that ends so many seconds from now. Nothing of it is signed. */
function aToken(seconds: number, jti = 'one'): string {
  const part = (claims: object): string =>
    Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ exp: NOW / SECOND + seconds, jti })}.signature`;
}

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
  answerWith(next: () => unknown): void;
}

function reviewing(status: unknown): Reviews {
  let answer: () => unknown = () => ({ metadata: { name: '' }, status });
  let now = NOW;
  const requests: object[] = [];
  const logger = createRecordingLogger();
  const create: KubernetesApi['create'] = async (type, namespace, object) => {
    expect([type.group, type.plural, namespace]).toEqual([
      'authentication.k8s.io',
      'tokenreviews',
      undefined,
    ]);
    requests.push(object);
    // What the API server says may be anything.
    return (await answer()) as Awaited<ReturnType<KubernetesApi['create']>>;
  };
  return {
    requests,
    logged: logger.records,
    pass: (seconds) => (now += seconds * SECOND),
    answerWith: (next) => (answer = next),
    authenticate: createProxyAuthenticator({
      api: { create },
      namespace: 'gatehouse',
      serviceAccount: 'gatehouse-proxy',
      logger,
      now: () => now,
    }),
  };
}

const TOKEN = aToken(3600);
const CREDENTIALS = { token: TOKEN, proxyId: 'proxy-0' };

describe('a proxy', () => {
  it('is who the API server says it is', async () => {
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
    ['a token that is not good', { authenticated: false }, 401],
    ['no answer to speak of', undefined, 401],
    ['something like the truth', { ...GOOD, authenticated: 'true' }, 401],
    ['a token for others', { ...GOOD, audiences: ['https://kubernetes.default.svc'] }, 401],
    ['a token for nobody', { ...GOOD, audiences: undefined }, 401],
    ['another account', { ...GOOD, user: { ...GOOD_USER, username: 'system:admin' } }, 403],
    [
      'the account of that name elsewhere',
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
    ['a pod in words', { ...GOOD, user: { ...GOOD_USER, extra: { [POD_NAME]: 'proxy-0' } } }, 403],
  ])('with %s is refused', async (_, status, code) => {
    const { authenticate } = reviewing(status);
    expect(await authenticate(CREDENTIALS)).toMatchObject({ kind: 'refused', status: code });
  });

  it('is asked about once a minute, and for every name it gives itself', async () => {
    const reviews = reviewing(GOOD);
    await Promise.all([reviews.authenticate(CREDENTIALS), reviews.authenticate(CREDENTIALS)]);
    reviews.pass(59);
    await reviews.authenticate(CREDENTIALS);
    expect(reviews.requests).toHaveLength(1);
    const other = await reviews.authenticate({ token: TOKEN, proxyId: 'proxy-1' });
    expect(other).toMatchObject({ status: 403 });
    reviews.pass(2);
    await reviews.authenticate(CREDENTIALS);
    expect(reviews.requests).toHaveLength(2);
  });

  it('is asked about again when its token has ended', async () => {
    const reviews = reviewing(GOOD);
    const credentials = { token: aToken(10), proxyId: 'proxy-0' };
    await reviews.authenticate(credentials);
    reviews.pass(11);
    reviews.answerWith(() => ({ status: { authenticated: false } }));
    expect(await reviews.authenticate(credentials)).toMatchObject({ status: 401 });
  });

  it('is refused while the API server is away, without a word of its token', async () => {
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

  it('is not kept out by strangers who ask for ever more', async () => {
    const reviews = reviewing(GOOD);
    await reviews.authenticate(CREDENTIALS);
    reviews.answerWith(() => ({ status: { authenticated: false } }));
    const statuses = new Set<unknown>();
    for (let index = 0; index < 1000; index += 1) {
      const token = aToken(60, String(index));
      const answer = await reviews.authenticate({ token, proxyId: 'proxy-0' });
      statuses.add('status' in answer ? answer.status : 200);
    }
    expect(statuses).toEqual(new Set([401, 503]));
    expect(reviews.requests.length).toBeLessThan(110);
    expect(await reviews.authenticate(CREDENTIALS)).toEqual({ kind: 'authenticated' });
  });
});
