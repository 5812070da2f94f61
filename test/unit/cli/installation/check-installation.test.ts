import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { checkInstallation } from '../../../../cli/installation/check-installation.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { monotonicClock } from '../../../../shared/runtime/clock.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';

const SETTINGS = { namespace: 'gatehouse', name: 'gatehouse' };
const ROUTE = { namespace: 'gatehouse', name: 'gatehouse-test' };
const HOST = 'gatehouse-test.example.invalid';
const OTHER_HOST = 'files.example.com';
const METADATA_PATH = '/.well-known/oauth-protected-resource';
const CHALLENGE = `Bearer resource_metadata="https://${HOST}${METADATA_PATH}"`;

interface Answers {
  readonly unknownHost?: number;
  readonly challenge?: { readonly status: number; readonly header: string };
  readonly resource?: string;
  /** The gateway redirects to HTTPS, where it answers this. */
  readonly secured?: number;
}

function condition(type: string, status: string, reason: string, message = '') {
  return { type, status, reason, message, lastTransitionTime: '2026-11-23T10:00:00Z' };
}

const GOOD = [
  condition('Accepted', 'True', 'Accepted'),
  condition('Programmed', 'True', 'Programmed'),
];

describe('checkInstallation', () => {
  let server: Server;
  let tlsServer: TlsServer;
  let url: URL;
  let tlsUrl: URL;
  let answers: Answers;
  let api: MemoryApi;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const isKnown = request.headers.host === HOST;
      if (!isKnown) {
        response.writeHead(answers.unknownHost ?? 421).end();
      } else if (answers.secured !== undefined) {
        response.writeHead(308).end();
      } else if (request.url === METADATA_PATH) {
        response
          .writeHead(200)
          .end(JSON.stringify({ resource: answers.resource ?? `https://${HOST}` }));
      } else {
        const { status, header } = answers.challenge ?? { status: 401, header: CHALLENGE };
        response.writeHead(status, { 'www-authenticate': header }).end();
      }
    });
    tlsServer = createTlsServer(createThrowawayAuthority().issue([OTHER_HOST]), (_, response) => {
      response.writeHead(answers.secured ?? 500).end();
    });
    url = new URL(`http://${await listen(server)}`);
    tlsUrl = new URL(`https://${await listen(tlsServer)}`);
  });
  afterAll(() => {
    server.close();
    tlsServer.close();
  });
  beforeEach(async () => {
    answers = {};
    api = new MemoryApi();
    await store(GATEWAY_SETTINGS, SETTINGS, { conditions: GOOD, proxies: 2 });
    await store(ROUTES, ROUTE, { conditions: GOOD });
  });

  const store = async (
    type: typeof ROUTES,
    place: typeof ROUTE,
    { conditions, proxies }: { conditions: readonly object[]; proxies?: number },
  ): Promise<void> => {
    const ready = proxies ?? 0;
    const status = {
      conditions,
      observedGeneration: 1,
      proxies: { connected: ready, ready, synced: ready, rejected: 0 },
    };
    if (api.read(type, place) === undefined) {
      const object = { apiVersion: 'gatehouse.dev/v1alpha1', kind: type.kind, metadata: place };
      await api.create(type, place.namespace, { ...object, spec: { from: `https://${HOST}` } });
    }
    api.edit(type, place, (object) => ({ ...object, status }));
  };
  const check = async (): Promise<readonly string[]> => {
    const lines: string[] = [];
    await checkInstallation({
      api,
      clock: monotonicClock,
      url,
      tlsUrl,
      settings: SETTINGS,
      route: ROUTE,
      timeoutMs: 0,
      report: (line) => lines.push(line),
    });
    return lines;
  };

  test('reports what is right', async () => {
    const [settings, proxy, challenge] = await check();

    expect(settings).toBe('GatewaySettings gatehouse/gatehouse: every proxy serves them');
    expect(proxy).toMatch(/a proxy answers$/);
    expect(challenge).toBe(
      `https://${HOST}: a client without a token gets the challenge, and finds the metadata`,
    );
  });

  test('says that nobody can sign in, and finds nothing wrong with that', async () => {
    const message = 'no identity provider';
    const missing = condition('ResolvedRefs', 'False', 'IdentityProviderNotFound', message);
    await store(ROUTES, ROUTE, { conditions: [missing] });

    expect((await check()).at(-1)).toMatch(/^no identity provider:/);
  });

  test('says that the default certificate is for other hosts', async () => {
    answers = { secured: 421 };

    expect((await check()).at(-1)).toBe(
      `https://${HOST}: no certificate covers it, so no challenge was looked at`,
    );
  });

  test.each([
    {
      behavior: 'settings that no controller has seen',
      status: { conditions: [], proxies: 2 },
      message: 'no controller has written their status',
    },
    {
      behavior: 'settings that are not served',
      status: { conditions: [condition('Programmed', 'Unknown', 'NoProxies', 'none')], proxies: 0 },
      message: 'NoProxies: none',
    },
    {
      behavior: 'a gateway without a ready proxy',
      status: { conditions: GOOD, proxies: 0 },
      message: 'no proxy is ready',
    },
  ])('finds $behavior', async ({ status, message }) => {
    await store(GATEWAY_SETTINGS, SETTINGS, status);

    await expect(check()).rejects.toThrow(message);
  });

  test('finds a Route that is refused', async () => {
    const refused = condition('Accepted', 'False', 'NotAllowedByGateway', 'its namespace');
    await store(ROUTES, ROUTE, { conditions: [refused] });

    await expect(check()).rejects.toThrow('Route gatehouse/gatehouse-test: NotAllowedByGateway');
  });

  test.each<{ behavior: string; wrong: Answers; message: string }>([
    {
      behavior: 'somebody else at the address',
      wrong: { unknownHost: 404 },
      message: 'status 404 for a host without a route, and not 421: somebody else answers',
    },
    {
      behavior: 'an answer without a challenge',
      wrong: { challenge: { status: 200, header: '' } },
      message: 'status 200 without a token, and not a challenge',
    },
    {
      behavior: 'an answer without a challenge over TLS',
      wrong: { secured: 404 },
      message: 'status 404 without a token, and not a challenge',
    },
    {
      behavior: 'a challenge that names another place',
      wrong: { challenge: { status: 401, header: 'Bearer' } },
      message: 'status 401 without a token, and not a challenge',
    },
    {
      behavior: 'metadata of another host',
      wrong: { resource: 'https://other.example' },
      message: 'is no metadata of this host',
    },
  ])('finds $behavior', async ({ wrong, message }) => {
    answers = wrong;

    await expect(check()).rejects.toThrow(message);
  });
});

/** Returns the address that the server listens at. */
async function listen(listener: Server | TlsServer): Promise<string> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo; // a TCP server that listens has one
  return `127.0.0.1:${String(port)}`;
}
