import { listAt, objectAt, textAt } from './field-reading.ts';
import { isObject, shown, type Json, type JsonObject } from './json.ts';
import { PODS, SERVICE_ACCOUNTS } from './resource-definitions.ts';
import { invalidValue } from './cause.ts';
import { badRequest, invalid, notFound, StatusError } from './status-error.ts';
import type { Store } from './store.ts';
import { wholeSeconds } from './times.ts';
import { API_AUDIENCE, type Authenticated } from './tokens.ts';
import type { ServiceAccountTokens } from './tokens.ts';

const API_VERSION = 'authentication.k8s.io/v1';
const SECOND = 1_000;
const DEFAULT_SECONDS = 3_600;
const LEAST_SECONDS = 600;

/** Authenticates a token. Rejects unless it is valid for the wanted audiences. */
export type Authenticate = (token: string, audiences: readonly string[]) => Promise<Authenticated>;

/** Answers a TokenReview. An invalid token is a normal result, and not an error. */
export async function reviewToken(
  body: Json | undefined,
  authenticate: Authenticate,
): Promise<JsonObject> {
  assertKind(body, 'TokenReview');
  const spec = objectAt(body, 'spec');
  const token = textAt(spec, 'token');
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = listAt(spec, 'audiences').map(String);
  const wanted = asked.length > 0 ? asked : [API_AUDIENCE];
  const review = { kind: 'TokenReview', apiVersion: API_VERSION, metadata: {}, spec };
  try {
    const { user, audiences } = await authenticate(token, wanted);
    return { ...review, status: { authenticated: true, user: { ...user }, audiences } };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown';
    return { ...review, status: { user: {}, error: `[invalid bearer token, ${why}]` } };
  }
}

/** Answers a TokenRequest for a ServiceAccount: the subresource `token`. */
export async function requestToken(
  store: Store,
  tokens: ServiceAccountTokens,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { body, now }: { readonly body: Json | undefined; readonly now: number },
): Promise<JsonObject> {
  assertKind(body, 'TokenRequest');
  const account = store.collection(SERVICE_ACCOUNTS).get(namespace, name);
  if (account === undefined) throw notFound(SERVICE_ACCOUNTS, name);
  const spec = objectAt(body, 'spec');
  const { expirationSeconds = DEFAULT_SECONDS } = spec;
  if (typeof expirationSeconds !== 'number' || expirationSeconds < LEAST_SECONDS) {
    const why = 'may not specify a duration less than 10 minutes';
    const cause = invalidValue('spec.expirationSeconds', expirationSeconds, why);
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [cause]);
  }
  const asked = listAt(spec, 'audiences').map(String);
  const audiences = asked.length > 0 ? asked : [API_AUDIENCE];
  const token = await tokens.issue({
    namespace,
    serviceAccount: { name, uid: account.object.metadata.uid ?? '' },
    pod: boundPod(store, { namespace, name }, objectAt(spec, 'boundObjectRef')),
    audiences,
    expirationSeconds,
  });
  const expirationTimestamp = wholeSeconds(now + expirationSeconds * SECOND);
  return {
    kind: 'TokenRequest',
    apiVersion: API_VERSION,
    metadata: { name, namespace },
    spec: { ...spec, audiences, expirationSeconds },
    status: { token, expirationTimestamp },
  };
}

function boundPod(
  store: Store,
  account: { readonly namespace: string; readonly name: string },
  reference: JsonObject,
): { readonly name: string; readonly uid: string } | undefined {
  if (Object.keys(reference).length === 0) return undefined;
  if (reference['kind'] !== 'Pod') {
    throw badRequest(
      `cannot bind token for serviceaccount to object type ${shown(reference['kind'])}`,
    );
  }
  const name = textAt(reference, 'name');
  const pod = store.collection(PODS).get(account.namespace, name);
  if (pod === undefined) throw notFound(PODS, name);
  if (objectAt(pod.object, 'spec')['serviceAccountName'] !== account.name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${account.name}" to pod running with different serviceaccount name.`,
    );
  }
  const { uid = '' } = pod.object.metadata;
  const wanted = textAt(reference, 'uid');
  if (wanted !== '' && wanted !== uid) {
    throw new StatusError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on Pod "${name}": the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`,
      { name, kind: 'Pod' },
    );
  }
  return { name, uid };
}

function assertKind(body: Json | undefined, kind: string): void {
  const isOfKind =
    isObject(body) &&
    (body['kind'] ?? kind) === kind &&
    (body['apiVersion'] ?? API_VERSION) === API_VERSION;
  if (!isOfKind) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`);
}
