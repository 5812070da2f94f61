import { ensureNamespace, ensureObject } from './ensure-object.ts';
import type { AdminClient } from './cluster.ts';

/** Long enough for any test, and no shorter than an API server allows. */
const LIFETIME_SECONDS = 3_600;

/** The ServiceAccount of a token. */
export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A pod whose deletion ends a token. */
interface BoundPod {
  readonly name: string;
  readonly uid: string;
}

/** Issues a token for the API server itself. Creates namespace and ServiceAccount if they are missing. */
export async function apiToken(admin: AdminClient, subject: TokenSubject): Promise<string> {
  await ensureServiceAccount(admin, subject);
  return await requestToken(admin, subject, {});
}

/** Issues a token for `audience` that is bound to a pod. Creates what is missing. */
export async function podToken(
  admin: AdminClient,
  { pod, audience, ...subject }: TokenSubject & { readonly pod: string; readonly audience: string },
): Promise<string> {
  await ensureServiceAccount(admin, subject);
  const { name, uid } = await ensurePod(admin, subject, pod);
  return await requestToken(admin, subject, {
    audiences: [audience],
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
  });
}

async function ensureServiceAccount(
  admin: AdminClient,
  { namespace, serviceAccount }: TokenSubject,
): Promise<void> {
  await ensureNamespace(admin, namespace);
  await ensureObject(admin, `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: serviceAccount },
  });
}

async function ensurePod(
  admin: AdminClient,
  { namespace, serviceAccount }: TokenSubject,
  name: string,
): Promise<BoundPod> {
  const object = await ensureObject(admin, `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: {
      serviceAccountName: serviceAccount,
      // No node runs this pod, even where there are nodes.
      schedulerName: 'none',
      containers: [{ name: 'proxy', image: 'none.invalid/none' }],
    },
  });
  // Every object of an API server has both.
  return (object as { readonly metadata: BoundPod }).metadata;
}

async function requestToken(
  admin: AdminClient,
  { namespace, serviceAccount }: TokenSubject,
  spec: object,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
  const request = await admin.request('POST', path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: LIFETIME_SECONDS, ...spec },
  });
  // A TokenRequest that was granted.
  return (request as { readonly status: { readonly token: string } }).status.token;
}
