import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Provider } from 'oidc-provider';

import { readForm } from '../../../proxy/http/read-form.ts';
import { startLoopbackServer, type LoopbackServer } from '../loopback-server.ts';
import type { WantedPort } from '../demo-flags.ts';
import { sendPage, withoutCookies } from '../pages-of-servers.ts';
import { findPerson } from '../people.ts';
import { loadOidcProvider } from './load-oidc-provider.ts';
import { providerConfiguration } from './provider-configuration.ts';
import { ACCOUNT_FIELD, signInGonePage, signInPage } from './sign-in-page.ts';

const INTERACTION_PREFIX = '/sign-in/';

/** Starts the demo's OpenID provider. It signs people in to the gateway whose users sign in at `signInOrigin`. */
export async function startIdentityProvider(
  listen: WantedPort,
  signInOrigin: string,
): Promise<LoopbackServer> {
  const { Provider, errors } = await loadOidcProvider();
  return startLoopbackServer(listen, async (origin) => {
    const interactionUrl = (uid: string): string => INTERACTION_PREFIX + uid;
    const provider = new Provider(
      origin,
      await providerConfiguration(signInOrigin, interactionUrl),
    );
    const protocol = provider.callback();
    return (request, response) => {
      withoutCookies(request, '_session');
      if (request.url?.startsWith(INTERACTION_PREFIX) !== true) {
        void protocol(request, response);
        return;
      }
      interact(provider, request, response).catch((error: unknown) => {
        if (error instanceof errors.SessionNotFound) sendPage(response, signInGonePage());
        else response.destroy();
      });
    };
  });
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response);
  const person = request.method === 'POST' ? await readChoice(request) : undefined;
  if (person === undefined) {
    sendPage(response, signInPage(INTERACTION_PREFIX + uid));
    return;
  }
  await provider.interactionFinished(request, response, {
    login: { accountId: person.account },
  });
}

async function readChoice(request: IncomingMessage) {
  return findPerson((await readForm(request)).get(ACCOUNT_FIELD));
}
