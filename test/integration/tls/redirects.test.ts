import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';

import { originOf } from '../../../shared/snapshot/origin.ts';
import { describeUnless } from '../../support/describe-unless.ts';
import { send } from '../../support/http-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { aSnapshot } from '../../support/compiled-resources.ts';
import { whyMissing } from '../../support/missing-program.ts';
import { curl, type CurlAnswer } from '../../support/tls/curl.ts';
import { startTlsWorld, type TlsWorld } from '../../support/tls/tls-world.ts';

const APP = 'app.example.com';
/** Addresses of this machine. */
const BALANCER = '127.0.0.2';
const STRANGER = '127.0.0.3';

const SIGN_IN = originOf({ scheme: 'https', host: 'auth.example.com', port: 443 });

let world: TlsWorld;

beforeAll(async () => {
  world = await startTlsWorld();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await world.apply(
    [
      world.certificate('test/app', [APP]),
      world.route(APP, ['test/app']),
      world.route('*.wild.example.com'),
      world.route('plain.example.com', undefined, 'http'),
      world.route('both.example.com'),
      {
        ...world.route('both.example.com', undefined, 'http'),
        path: { kind: 'prefix', value: '/plain' },
      },
    ],
    { trustedProxies: [`${BALANCER}/32`], authenticateOrigin: SIGN_IN },
  );
});

function ask(
  host: string,
  path: string,
  options: Parameters<typeof send>[1] = {},
): ReturnType<typeof send> {
  const url = `http://127.0.0.1:${String(world.port)}${path}`;
  return send(url, { ...options, headers: { host, ...options.headers } });
}

describe('a request without TLS', () => {
  test.each([
    [APP, '/', `https://${APP}/`],
    [APP, '/a%20b/?c=d&e=%2F', `https://${APP}/a%20b/?c=d&e=%2F`],
    [APP, '//evil.example.org/', `https://${APP}//evil.example.org/`],
    ['APP.Example.com', '/', `https://${APP}/`],
    ['x.wild.example.com', '/', 'https://x.wild.example.com/'],
    ['auth.example.com', '/.gateway/sign_in', 'https://auth.example.com/.gateway/sign_in'],
    [APP, '/.gateway/callback?code=x', `https://${APP}/.gateway/callback?code=x`],
    ['both.example.com', '/other', 'https://both.example.com/other'],
    // The port of http (RFC 9110, section 4.2.3).
    [`${APP}:80`, '/a?b', `https://${APP}/a?b`],
    ['x.wild.example.com:80', '/', 'https://x.wild.example.com/'],
    ['auth.example.com:80', '/.gateway/sign_in', 'https://auth.example.com/.gateway/sign_in'],
    ['both.example.com:80', '/other', 'https://both.example.com/other'],
  ])('for %s and %s is sent to %s', async (host, path, location) => {
    const answer = await ask(host, path);
    expect(answer).toMatchObject({ status: 308, headers: { location } });
  });

  test('with a body is sent on with its method', async () => {
    const answer = await ask(APP, '/mcp', { method: 'POST', body: '{}' });
    expect(answer.status).toBe(308);
    expect(world.upstream.requests).toHaveLength(0);
  });

  test.each([
    ['an unknown host', 'evil.example.org', '/', 421],
    ['an unknown host and port 80', 'evil.example.org:80', '/', 421],
    ['a known host at another port', `${APP}:8443`, '/', 421],
    ['credentials in the host', `${APP}@evil.example.org`, '/', 400],
    ['a path in the host', `${APP}/x`, '/', 400],
    ['a host with a dot at its end', `${APP}.`, '/', 421],
    ['a line break in the target', APP, '/%0d%0aSet-Cookie:x', 308],
  ])('with %s is not sent elsewhere', async (_name, host, path, status) => {
    const answer = await ask(host, path);
    expect(answer.status).toBe(status);
    const location = status === 308 ? `https://${APP}${path}` : undefined;
    expect(answer.headers.location).toBe(location);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('that names another host in its target is refused', async () => {
    const url = `http://127.0.0.1:${String(world.port)}http://evil.example.org/`;
    expect((await send(url, { headers: { host: APP } })).status).toBe(400);
  });

  test('for a host with plain http in its route is served', async () => {
    expect(await ask('plain.example.com', '/')).toMatchObject({ status: 200 });
    expect(await ask('plain.example.com:80', '/')).toMatchObject({ status: 200 });
    expect(await ask('both.example.com', '/plain/x')).toMatchObject({ status: 200 });
    expect(await ask('both.example.com:80', '/plain/x')).toMatchObject({ status: 200 });
  });

  test.each([
    ['GET', '/.well-known/acme-challenge/a-Token_1', 200],
    ['GET', '/.well-known/acme-challenge/', 308],
    ['GET', '/.well-known/acme-challenge/a/b', 308],
    ['GET', '/.well-known/acme-challenge/..%2f', 400],
    ['POST', '/.well-known/acme-challenge/a-Token_1', 308],
  ])('%s %s is answered with %i', async (method, path, status) => {
    expect((await ask(APP, path, { method })).status).toBe(status);
  });

  test.each([
    [BALANCER, 'https', 200],
    [BALANCER, 'HTTPS', 200],
    // TLS before the first of two balancers.
    [BALANCER, 'https, http', 200],
    // Nothing is known of what a balancer does that says nothing: a redirect could go round for ever.
    [BALANCER, undefined, 200],
    [BALANCER, '', 200],
    [BALANCER, 'http', 308],
    [BALANCER, 'http, http', 308],
    [STRANGER, 'https', 308],
    [STRANGER, undefined, 308],
  ])('from %s with X-Forwarded-Proto %s is answered with %i', async (from, proto, status) => {
    const headers = { 'x-forwarded-proto': proto };
    expect((await ask(APP, '/', { from, headers })).status).toBe(status);
  });

  test('that opens a WebSocket is sent to https', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${String(world.port)}/socket`, {
      headers: { host: APP },
    });
    const [status, location] = await new Promise<readonly unknown[]>((resolve, reject) => {
      client.once('error', reject);
      client.once('unexpected-response', (_request, response) => {
        resolve([response.statusCode, response.headers.location]);
      });
    });
    expect([status, location]).toEqual([308, `https://${APP}/socket`]);
  });

  test('is served where no listener for TLS is open', async () => {
    await using gateway = await startGateway();
    await gateway.gateway.apply(aSnapshot(compiledSettings(), world.route(APP)));
    const answer = await send(`${gateway.origin}/`, { headers: { host: APP } });
    expect(answer.status).toBe(200);
  });

  test('is still sent to https when the last certificate is gone', async () => {
    await using other = await startTlsWorld();
    await other.gateway.gateway.apply(aSnapshot(compiledSettings(), other.route(APP)));
    const answer = await send(`http://127.0.0.1:${String(other.port)}/`, {
      headers: { host: APP },
    });
    expect(answer.status).toBe(308);
  });
});

describeUnless(whyMissing('curl'))('curl', () => {
  /** Asks without TLS, and follows redirects. */
  async function follow(path: string, ...options: readonly string[]): Promise<CurlAnswer> {
    const ports = [
      [80, world.port],
      [443, world.tlsPort],
    ].flatMap(([public_, own]) => [
      '--connect-to',
      `${APP}:${String(public_)}:127.0.0.1:${String(own)}`,
    ]);
    return await curl(
      `http://${APP}${path}`,
      '--location',
      '--cacert',
      world.caFile,
      ...ports,
      ...options,
    );
  }

  const lastRequest = (): unknown => world.upstream.requests.at(-1)?.message;

  test('is sent to https, and gets the page there', async () => {
    const first = await follow('/page?a=b', '--no-location');
    expect(first).toMatchObject({ status: 308, location: `https://${APP}/page?a=b` });
    const answer = await follow('/page?a=b');
    expect(answer).toMatchObject({ status: 200, httpVersion: '2' });
    expect(answer.body).toContain('upstream');
    expect(lastRequest()).toMatchObject({ method: 'GET', url: '/page?a=b' });
  });

  test('sends its body there by the same method', async () => {
    const answer = await follow('/mcp', '--data', '{"a":1}');
    expect(answer).toMatchObject({ status: 200, body: '{"a":1}' });
    expect(lastRequest()).toMatchObject({ method: 'POST', url: '/mcp' });
  });

  test('gets an ACME challenge without TLS', async () => {
    const answer = await follow('/.well-known/acme-challenge/a-Token_1');
    expect(answer).toMatchObject({ status: 200, httpVersion: '1.1', exitCode: 0 });
  });
});
