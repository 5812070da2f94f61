import { randomUUID } from 'node:crypto';

import type { Origin } from '../../shared/snapshot/origin.ts';
import type { SignedInCaller } from '../authentication/caller.ts';
import type { ConnectLinks } from '../connect/connect-links.ts';
import {
  ConnectionDeclinedError,
  ConnectionNeedsSignInError,
  NotConnectedError,
  type UrlElicitation,
} from '../errors/not-connected-errors.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { declinesUrl, elicitationForm, requestStateOf } from '../mcp/url-elicitation.ts';
import type { McpSession } from './mcp-session.ts';
import type { Permit } from './permit.ts';

/** What `notConnected` uses besides the request. */
export interface ConnectStages {
  readonly connectLinks: Pick<ConnectLinks, 'urlFor'>;
}

const TO_PAGE = { kind: 'page' } as const;

/**
 * Returns the error for a request whose user has to connect the upstream first. A client that opens URLs for
 * its user gets the URL to do it, and keeps its token. Any other gets a challenge, and authorizes again.
 */
export function notConnected(
  permit: Permit,
  session: McpSession | undefined,
  { origin }: { readonly origin: Origin },
  { connectLinks }: ConnectStages,
): GatewayError {
  const { body, route } = permit;
  const caller = signedInCaller(permit);
  const why = 'the upstream of the route is not connected for this user';
  const upstreamOAuth = route.compiled.mcpServer?.upstreamOAuth;
  const message = body?.message;
  if (message === undefined || upstreamOAuth === undefined) return new NotConnectedError(why);
  const form = elicitationForm(message, session?.ids?.takesUrls === true);
  if (form === undefined) return new NotConnectedError(why);
  if (declinesUrl(message)) return new ConnectionDeclinedError();
  const { routeId } = upstreamOAuth;
  const { identity } = caller.session;
  const elicitation: UrlElicitation = {
    form,
    url: connectLinks.urlFor({ user: identity, routeId, returnTo: TO_PAGE }, origin),
    id: randomUUID(),
    requestState: requestStateOf(message),
  };
  return new NotConnectedError(why, elicitation);
}

/** Returns the caller of a request, if it is a user who signed in, and so can connect in a browser. */
export function signedInCaller({ caller }: Pick<Permit, 'caller'>): SignedInCaller {
  if (caller.kind === 'user' && caller.via !== 'bearer-token') return caller;
  throw new ConnectionNeedsSignInError();
}
