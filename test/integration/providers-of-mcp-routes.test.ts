import { beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';

import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf } from '../support/http-client.ts';
import { openMcpSession } from '../support/open-mcp-session.ts';
import { openForAll } from '../support/open-for-all.ts';
import { fieldsOfPatientUser } from '../support/patient-user.ts';
import { refresh, tokensIn } from '../support/session-world.ts';
import {
  authorize,
  callMcp,
  discover,
  redeem,
  register,
  signInClient,
} from '../support/signed-in-client.ts';
import { startTwoProvidersWorld } from '../support/two-providers-world.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const world = openForAll(startTwoProvidersWorld);

beforeEach(() => world().serve());

/** The issuer of the user of the last request that reached the upstream. */
function lastProvider(): unknown {
  const assertion = world().lastRequest()?.message.headers['x-gateway-assertion']?.toString();
  return decodeJwt(assertion ?? '')['idp'];
}

async function statusWith(url: string, token: string): Promise<number> {
  return (await callMcp(url, token, PING)).status;
}

function lastReason(): unknown {
  return world()
    .gateway.logs()
    .findLast(({ reason }) => reason !== undefined)?.['reason'];
}

describe('MCP routes of one host that name different providers', () => {
  test('sign the users of their clients in at their own one, in one browser', async () => {
    const { companyMcp, partnerMcp, company, partner } = world();
    const browser = new BrowserJar();
    const ofCompany = await signInClient(companyMcp, { browser });
    const ofPartner = await signInClient(partnerMcp, { browser });
    expect(ofPartner.server.issuer).toBe(ofCompany.server.issuer);

    expect(await statusWith(companyMcp, ofCompany.accessToken)).toBe(200);
    expect(lastProvider()).toBe(company.issuer);
    expect(await statusWith(partnerMcp, ofPartner.accessToken)).toBe(200);
    expect(lastProvider()).toBe(partner.issuer);
    // Further clients need no sign-in.
    const requests = company.authorizationRequests.length + partner.authorizationRequests.length;
    for (const url of [companyMcp, partnerMcp]) await signInClient(url, { browser });
    expect(company.authorizationRequests.length + partner.authorizationRequests.length).toBe(
      requests,
    );
  });

  test('renew the sessions of their users there', async () => {
    const { companyMcp, partnerMcp, company, partner } = world();
    const ofCompany = await signInClient(companyMcp);
    const ofPartner = await signInClient(partnerMcp);
    const before = [company.tokenRequests(), partner.tokenRequests()];
    world().expireSessions();

    const { accessToken } = tokensIn(await refresh(ofPartner));
    expect(await statusWith(partnerMcp, accessToken)).toBe(200);
    expect(lastProvider()).toBe(partner.issuer);
    expect([company.tokenRequests(), partner.tokenRequests()]).toEqual([
      before[0],
      (before[1] ?? 0) + 1,
    ]);
    company.users.delete('alice');
    expect((await refresh(ofCompany)).status).toBe(400);
    company.users.set('alice', partner.users.get('alice') ?? {});
  });
});

describe('Users of two providers with the same sub and address are not the same user', () => {
  test('for a consent that one of them gave', async () => {
    const { partnerMcp } = world();
    const server = await discover(partnerMcp);
    const callback = 'https://client.example/callback';
    const clientId = await register(server, callback);
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: callback },
      ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
      resource: server.resource,
    });
    const browser = new BrowserJar();
    const stopAt = (url: string): boolean => url.startsWith(callback);
    /** Asks for an authorization, and returns whether the user was asked for consent. */
    const isAsked = async (): Promise<boolean> => {
      const { authorizationEndpoint } = server;
      let page = await browser.open(`${authorizationEndpoint}?${query.toString()}`, { stopAt });
      if ('login' in (page.forms[0]?.fields ?? {})) {
        page = await browser.submit(page, { login: 'alice' }, { stopAt });
      }
      if (page.forms.length === 0) return false;
      const fields = { ...fieldsOfPatientUser(page, browser), decision: 'approve' };
      const { headers } = await browser.submit(page, fields, { stopAt });
      expect(headers.location).toContain(callback);
      return true;
    };
    expect([await isAsked(), await isAsked()]).toEqual([true, false]);

    await world().serve({ partnerMcpUses: 'company' });
    expect([await isAsked(), await isAsked()]).toEqual([true, false]);
  });

  test('for an MCP session that one of them opened', async () => {
    const { partnerMcp } = world();
    const ofPartner = await signInClient(partnerMcp);
    const session = await openMcpSession(partnerMcp, ofPartner.accessToken);
    expect((await callMcp(partnerMcp, ofPartner.accessToken, PING, session)).status).toBe(200);

    await world().serve({ partnerMcpUses: 'company' });
    const { accessToken } = await signInClient(partnerMcp);
    expect((await callMcp(partnerMcp, accessToken, PING, session)).status).toBe(404);
  });
});

describe('A policy that names an issuer', () => {
  test('holds for users of that provider, also after their session was renewed without an identity token', async () => {
    const { partnerMcp, partner, company } = world();
    await world().serve({ partnerMcpAllows: { 'claim/iss': partner.issuer } });
    const client = await signInClient(partnerMcp);
    expect(await statusWith(partnerMcp, client.accessToken)).toBe(200);

    partner.changeTokens = (response) => ({ ...response, id_token: undefined });
    // Attack: the partner's answer says that its alice is the company's.
    partner.answers.set('userinfo', { status: 200, body: userInfo({ iss: company.issuer }) });
    try {
      world().expireSessions();
      const { accessToken } = tokensIn(await refresh(client));
      expect(await statusWith(partnerMcp, accessToken)).toBe(200);
      await world().serve({ partnerMcpAllows: { 'claim/iss': company.issuer } });
      expect(await statusWith(partnerMcp, accessToken)).toBe(403);
    } finally {
      partner.changeTokens = (response) => response;
      partner.answers.clear();
    }
  });
});

/** What userinfo says about alice, and more. */
function userInfo(more: object): object {
  return { sub: 'alice', ...world().partner.users.get('alice'), ...more };
}

describe('When an MCP route names another provider', () => {
  test('tokens of users of the one before are refused with that reason, cached or not', async () => {
    const { partnerMcp } = world();
    const client = await signInClient(partnerMcp);
    expect(await statusWith(partnerMcp, client.accessToken)).toBe(200);
    await world().serve({ partnerMcpUses: 'company' });

    const refused = await callMcp(partnerMcp, client.accessToken, PING);
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(lastReason()).toBe('other-provider');
    const answer = await refresh(client);
    expect([answer.status, membersOf(answer)['error']]).toEqual([400, 'invalid_grant']);
  });

  test('a code of a user of the one before gets no token', async () => {
    const { partnerMcp } = world();
    const server = await discover(partnerMcp);
    const clientId = await register(server);
    const { searchParams } = await authorize(server, clientId);
    await world().serve({ partnerMcpUses: 'company' });

    const answer = await redeem(server, clientId, searchParams.get('code') ?? '');
    expect([answer.status, membersOf(answer)['error']]).toEqual([400, 'invalid_grant']);
  });

  test('a browser that waits for consent signs in at the new one', async () => {
    const { partnerMcp, company } = world();
    const browser = new BrowserJar();
    await signInClient(partnerMcp, { browser });
    await world().serve({ partnerMcpUses: 'company' });
    const client = await signInClient(partnerMcp, { browser });

    expect(await statusWith(partnerMcp, client.accessToken)).toBe(200);
    expect(lastProvider()).toBe(company.issuer);
  });
});
