import type { ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { createGuardedFetch } from '../../../../../proxy/outbound/guarded-fetch.ts';
import { UpstreamCalls } from '../../../../../proxy/upstream-oauth/calls/upstream-calls.ts';
import { AuthorizationServers } from '../../../../../proxy/upstream-oauth/discovery/authorization-servers.ts';
import { startHttpsServer } from '../../../../support/https-server.ts';
import { recordingLogger } from '../../../../support/recording-logger.ts';

/** A server that two upstreams name. It responds when it is told to. */
interface World extends AsyncDisposable {
  readonly issuer: string;
  /** Resolves with the response to the first request, which waits for it. */
  readonly asked: Promise<ServerResponse>;
  readonly respond: (response: ServerResponse) => void;
  readonly servers: AuthorizationServers;
}

async function startWorld(): Promise<World> {
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<ServerResponse>();
  const server = await startHttpsServer(['login.example'], (_request, response) => {
    onAsked(response);
  });
  const issuer = server.url('login.example', '');
  const options = { devAllowLoopback: false, now: Date.now };
  const guardedFetch = createGuardedFetch({
    devAllowLoopback: false,
    ca: server.ca,
    lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
  const calls = new UpstreamCalls({ guardedFetch, logger: recordingLogger(), now: Date.now });
  return {
    issuer,
    asked,
    respond: (response) => {
      const endpoints = { authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
      const metadata = { issuer, ...endpoints, code_challenge_methods_supported: ['S256'] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    },
    servers: new AuthorizationServers({ ...options, calls }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

let world: World;

beforeEach(async () => {
  world = await startWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const CONTEXT = { route: 'team/tickets', allowedCidrs: ['127.0.0.0/8'] };

describe('an authorization server of several upstreams', () => {
  test('is found for one although the time of another is over', async () => {
    const { servers, issuer, asked, respond } = world;
    const late = new AbortController();
    const ofOther = servers.get(issuer, { ...CONTEXT, signal: late.signal });
    const response = await asked;
    const found = servers.get(issuer, CONTEXT);
    late.abort();
    await expect(ofOther).rejects.toMatchObject({ reason: 'upstream-auth-unavailable' });
    const next = servers.get(issuer, CONTEXT);
    respond(response);

    expect(await Promise.all([found, next])).toMatchObject([{ issuer }, { issuer }]);
  });
});
