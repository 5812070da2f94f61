import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { readForm } from '../../../proxy/http/read-form.ts';
import { startUpstream } from '../upstream.ts';
import { apiAnswer } from './api-answer.ts';
import { checkAnswer } from './check-answer.ts';
import { authorizePage } from './authorize-page.ts';
import { HUBOT, OCTOCAT, type GithubState } from './github-state.ts';
import { tokenAnswer } from './token-answer.ts';

const API_PATH = '/api/v3';

const CHECK_PATH = /^\/api\/v3\/applications\/([^/]+)\/token$/;

/**
 * A fake GitHub, because the real one cannot be had. It answers only what GitHub's documentation says, and
 * refuses everything else as GitHub does. Its web pages and its REST API are where GitHub Enterprise Server
 * has them.
 *
 * @see {@link https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps}
 * @see {@link https://docs.github.com/en/rest/users/users#get-the-authenticated-user}
 */
export interface TestGithub extends GithubState, AsyncDisposable {
  readonly webUrl: string;
  readonly apiUrl: string;
  /** Method and path of every request. */
  readonly requests: string[];
}

/** Starts one with the users octocat and hubot. */
export async function startGithub(kind: GithubState['kind'] = 'oauth-app'): Promise<TestGithub> {
  const state: GithubState = {
    kind,
    clientId: 'Iv1.8a61f9b3a7aba766',
    clientSecret: randomBytes(20).toString('hex'),
    callbackUrl: 'http://localhost/not-registered-yet',
    accounts: new Map([OCTOCAT, HUBOT].map((account) => [account.login, account])),
    grantsScopes: true,
    isLimited: false,
    newAccessToken: () => `gho_${randomBytes(18).toString('hex')}`,
    codes: new Map(),
    accessTokens: new Map(),
    refreshTokens: new Map(),
  };
  const requests: string[] = [];
  const upstream = await startUpstream((message, response) => {
    const url = new URL(message.url ?? '/', 'http://github.test');
    requests.push(`${message.method ?? ''} ${url.pathname}`);
    void answerTo(message, url, github).then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(body);
    });
  });
  const github: TestGithub = Object.assign(state, {
    webUrl: upstream.origin,
    apiUrl: upstream.origin + API_PATH,
    requests,
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  });
  return github;
}

async function answerTo(
  message: IncomingMessage,
  url: URL,
  github: GithubState,
): Promise<GatewayResponse> {
  const { pathname } = url;
  if (pathname === '/login/oauth/authorize') return authorizePage(message, url, github);
  if (pathname === '/login/oauth/access_token' && message.method === 'POST') {
    const answer = tokenAnswer(await readForm(message), github);
    // Without this field it is a form.
    if (message.headers.accept === 'application/json') return json(200, answer);
    const form = Object.entries(answer).map(([name, value]) => [name, String(value)]);
    return { status: 200, headers: {}, body: new URLSearchParams(form).toString() };
  }
  const checkedBy = CHECK_PATH.exec(pathname)?.[1];
  if (checkedBy !== undefined && message.method === 'POST') {
    const { authorization } = message.headers;
    const request = { authorization, clientId: checkedBy, body: await text(message) };
    const { status, body } = checkAnswer(request, github);
    return json(status, body);
  }
  if (pathname.startsWith(`${API_PATH}/`)) {
    const { status, headers, body } = apiAnswer(message, pathname.slice(API_PATH.length), github);
    return json(status, body, headers);
  }
  return { status: 404, headers: {}, body: 'Not Found' };
}

function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) };
}
