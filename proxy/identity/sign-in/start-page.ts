import type { EndpointContext } from '../../endpoints/endpoint.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { isSignInProvider } from '../../identity-provider/require-identity-provider.ts';
import type { WantedSignIn } from './redirect-to-sign-in.ts';

type Here = Pick<EndpointContext, 'request' | 'origin' | 'configuration'>;

/**
 * Returns the page for a user who signs in without requesting another page, and the provider of its users:
 * the start page of the host if it has one for browsers. Undefined if nobody can sign in there, but at Routes that
 * name their provider.
 */
export function startPage(here: Here): WantedSignIn | undefined {
  const wanted = wantedPage(here);
  const { identityProviders } = here.configuration;
  const isElsewhere =
    !isSignInProvider(identityProviders.find(wanted.provider)) &&
    identityProviders.all().some(isSignInProvider);
  return isElsewhere ? undefined : wanted;
}

function wantedPage({ request, origin, configuration }: Here): WantedSignIn {
  const account = { returnPath: PATHS.account, provider: undefined };
  if (origin === configuration.settings.authenticateOrigin) return account;
  const route = configuration.routes.findHost(request.authority)?.matchPath('/')?.compiled;
  if (route === undefined || route.mcpServer !== undefined) return account;
  return { returnPath: '/', provider: route.identityProvider };
}
