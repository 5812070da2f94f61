import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Provider } from 'oidc-provider';

import { html } from '../../proxy/http/html.ts';
import { readForm } from '../../proxy/http/read-form.ts';
import { page } from '../../proxy/pages/layout.ts';

/**
 * Serves a provider's sign-in page, which asks for nothing but a login name: signs in the user in the
 * posted `login`, who consents to everything; an empty `login` is a user who cancels.
 */
export async function signInAtProvider(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    const { status, headers, body } = signInPage(request.url ?? '/');
    response.writeHead(status, headers).end(body);
    return;
  }
  const login = (await readForm(request)).get('login') ?? '';
  const consented = { login: { accountId: login }, consent: {} };
  const result = login === '' ? { error: 'access_denied' } : consented;
  await provider.interactionFinished(request, response, result);
}

function signInPage(action: string) {
  const content = html`<form method="post" action="${action}">
    <label>Login <input name="login" autofocus /></label>
    <button>Sign in</button>
  </form>`;
  // Browsers also apply this list to the redirects that follow a posted form.
  return page(200, {
    title: 'Test identity provider',
    content,
    form: { targets: ['http:', 'https:'] },
  });
}
