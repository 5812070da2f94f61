import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { html } from '../../../proxy/http/html.ts';
import { readForm } from '../../../proxy/http/read-form.ts';
import { page } from '../../../proxy/pages/layout.ts';
import type { GithubState } from './github-state.ts';

/**
 * Answers at `/login/oauth/authorize`, with a page at which a user signs in by a login, or cancels with an
 * empty one. Every error is sent to the redirect URI, or to the callback URL if that is not a right one.
 */
export async function authorizePage(
  message: IncomingMessage,
  { search, searchParams: query }: URL,
  github: GithubState,
): Promise<GatewayResponse> {
  if (query.get('client_id') !== github.clientId) return { status: 404, headers: {}, body: '' };
  const state = query.get('state') ?? '';
  const redirectUri = query.get('redirect_uri') ?? github.callbackUrl;
  if (!isBelow(redirectUri, github.callbackUrl)) {
    return redirect(github.callbackUrl, { error: 'redirect_uri_mismatch', state });
  }
  const challenge = query.get('code_challenge') ?? '';
  // Documented as 43 characters, and S256 as the only method.
  if (!/^[\w-]{43}$/.test(challenge) || query.get('code_challenge_method') !== 'S256') {
    return redirect(redirectUri, { error: 'invalid_request', state });
  }
  if (message.method !== 'POST') return signInPage(search);
  const login = (await readForm(message)).get('login') ?? '';
  if (login === '') return redirect(redirectUri, { error: 'access_denied', state });
  const code = randomBytes(10).toString('hex');
  const scopes = github.grantsScopes ? (query.get('scope') ?? '').split(' ') : [];
  github.codes.set(code, { login, redirectUri, challenge, scopes });
  return redirect(redirectUri, { code, state });
}

function redirect(uri: string, parameters: Readonly<Record<string, string>>): GatewayResponse {
  const location = `${uri}?${new URLSearchParams(parameters).toString()}`;
  return { status: 302, headers: { location }, body: '' };
}

function signInPage(search: string): GatewayResponse {
  const content = html`<form method="post" action="/login/oauth/authorize${search}">
    <input name="login" /><button>Authorize</button>
  </form>`;
  return page(200, { title: 'GitHub', content, form: { targets: ['http:', 'https:'] } });
}

/** Host and port must be those of the callback URL, and the path that one or one below it. */
function isBelow(redirectUri: string, callbackUrl: string): boolean {
  const [uri, callback] = [new URL(redirectUri), new URL(callbackUrl)];
  if (uri.origin !== callback.origin) return false;
  return uri.pathname === callback.pathname || uri.pathname.startsWith(`${callback.pathname}/`);
}
