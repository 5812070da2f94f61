import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import { parseJsonObject } from '../../json/parse-json-object.ts';
import type { JsonObject } from '../../json/json-object.ts';
import { callFailure, mostTelling, statusFailure } from '../calls/discovery-failures.ts';
import type { UpstreamCallContext, UpstreamCalls } from '../calls/upstream-calls.ts';
import { LONGEST_URL_LENGTH } from './longest-url.ts';
import { textsOf } from './texts-of.ts';
import { isResourceOf } from './upstream-resource.ts';

const STEP = 'resource-metadata';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const OK = 200;

/** Far above real numbers; each entry may cost some requests. */
const MAX_SERVERS = 4;

/** What an upstream says about itself as a protected resource (RFC 9728, section 2). */
export interface ResourceMetadata {
  readonly resource: string;
  /** Issuers, in its order. Never empty. */
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | undefined;
}

/**
 * Returns the metadata of an upstream from the first place that has them: the URL of its challenge, the
 * well-known path with that of its URL, or the well-known path alone. Rejects with an `UpstreamAuthError`.
 */
export async function findResourceMetadata(
  upstreamUrl: string,
  ofChallenge: string | undefined,
  calls: UpstreamCalls,
  context: UpstreamCallContext,
): Promise<ResourceMetadata> {
  const errors: UpstreamAuthError[] = [];
  for (const url of placesOf(upstreamUrl, ofChallenge)) {
    try {
      return await readResourceMetadata(url, upstreamUrl, calls, context);
    } catch (error) {
      if (!(error instanceof UpstreamAuthError) || isFinal(error)) throw error;
      errors.push(error);
    }
  }
  throw mostTelling(errors) ?? new Error('there is at least one place');
}

/** Attack: metadata about another resource lead users to a server that gets tokens for that one. */
function isFinal({ reason }: UpstreamAuthError): boolean {
  return reason === 'upstream-auth-resource-mismatch';
}

/** RFC 9728, section 3.1, and the order of the MCP specification (Authorization, server discovery). */
function placesOf(upstreamUrl: string, ofChallenge: string | undefined): readonly string[] {
  const { origin, pathname } = new URL(upstreamUrl);
  const path = pathname.replace(/\/$/, '');
  const wellKnowns = [`${origin}${WELL_KNOWN}${path}`, `${origin}${WELL_KNOWN}`];
  return [...new Set(ofChallenge === undefined ? wellKnowns : [ofChallenge, ...wellKnowns])];
}

async function readResourceMetadata(
  url: string,
  upstreamUrl: string,
  calls: UpstreamCalls,
  context: UpstreamCallContext,
): Promise<ResourceMetadata> {
  const response = await calls.send(url, { step: STEP }, context).catch((error: unknown) => {
    throw callFailure(error, url, STEP);
  });
  if (response.status !== OK) throw statusFailure(response.status, url, STEP);
  const document = parseJsonObject(response.body);
  if (document.kind === 'problem') throw invalid(url, document.problem);
  return resourceMetadata(url, upstreamUrl, document.members);
}

function resourceMetadata(
  url: string,
  upstreamUrl: string,
  { resource, authorization_servers: servers, scopes_supported: scopes }: JsonObject,
): ResourceMetadata {
  if (typeof resource !== 'string' || resource.length > LONGEST_URL_LENGTH)
    throw invalid(url, 'has no usable member resource');
  if (!isResourceOf(resource, upstreamUrl)) {
    const message = `${url} is about ${JSON.stringify(resource)}, and the upstream is ${upstreamUrl}`;
    const { host } = new URL(url);
    const details = { step: STEP, host } as const;
    throw new UpstreamAuthError('upstream-auth-resource-mismatch', message, details);
  }
  const authorizationServers = (textsOf(servers) ?? [])
    .filter((issuer) => issuer.length <= LONGEST_URL_LENGTH)
    .slice(0, MAX_SERVERS);
  if (authorizationServers.length === 0) throw invalid(url, 'lists no authorization_servers');
  return { resource, authorizationServers, scopes: textsOf(scopes) };
}

function invalid(url: string, problem: string): UpstreamAuthError {
  const details = { step: STEP, host: URL.parse(url)?.host } as const;
  return new UpstreamAuthError('upstream-auth-metadata-invalid', `${url} ${problem}`, details);
}
