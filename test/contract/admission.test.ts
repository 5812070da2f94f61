import { expect, test } from '@jest/globals';

import { ApiStatusError } from '../support/kubernetes/api-status-error.ts';
import type { AdminClient } from '../support/kubernetes/cluster.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  ADMITTED,
  AGAINST_RULES,
  AGAINST_SCHEMA,
  WITH_UNKNOWN_FIELDS,
  type AdmissionCase,
} from './admission-cases.ts';

/** An API server with a namespace for resources. */
interface Admission extends AsyncDisposable {
  readonly admin: AdminClient;
  readonly namespace: string;
}

const COLLECTIONS: Readonly<Record<string, string>> = {
  Route: 'routes',
  GatewaySettings: 'gatewaysettings',
};

describeWithClusters([], 'at admission', (openCluster) => {
  const admission = openForAll(async () => await inNamespace(await openCluster()));

  test.each(ADMITTED)('$title is admitted', async ({ manifest }) => {
    await expect(create(admission(), manifest)).resolves.toMatchObject({ kind: manifest['kind'] });
  });

  test.each(AGAINST_SCHEMA)('$title is refused', async (refused) => {
    await expectRefusal(admission(), refused);
  });

  test.each(AGAINST_RULES)('by a rule, $title is refused', async (refused) => {
    const words = await expectRefusal(admission(), refused);

    for (const { message } of refused.problems) expect(words).toContain(message);
  });

  test.each(WITH_UNKNOWN_FIELDS)('that is strict, $title is refused', async (refused) => {
    const { code, message } = await refusalOf(admission(), refused.manifest);

    expect(code).toBe(400);
    for (const { path } of refused.problems) expect(message).toContain(`unknown field "${path}"`);
  });
});

describeWithClusters(['definitions'], 'the definitions', (openCluster) => {
  const admission = openForAll(openCluster);

  test.each(Object.values(COLLECTIONS))('%s are established', async (plural) => {
    const { status } = (await admission().admin.request(
      'GET',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.gatehouse.dev`,
    )) as { readonly status: { readonly conditions: readonly object[] } };

    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Established', status: 'True' }),
    );
    expect(status.conditions).not.toContainEqual(
      expect.objectContaining({ type: 'NonStructuralSchema' }),
    );
  });
});

async function inNamespace(
  cluster: { readonly admin: AdminClient } & AsyncDisposable,
): Promise<Admission> {
  return {
    admin: cluster.admin,
    namespace: await createNamespace(cluster),
    [Symbol.asyncDispose]: async () => await cluster[Symbol.asyncDispose](),
  };
}

async function create(
  { admin, namespace }: Admission,
  manifest: AdmissionCase['manifest'],
): Promise<unknown> {
  const plural = COLLECTIONS[String(manifest['kind'])] ?? '';
  return await admin.request(
    'POST',
    `/apis/gatehouse.dev/v1alpha1/namespaces/${namespace}/${plural}?fieldValidation=Strict`,
    { ...manifest, metadata: { generateName: 'case-', namespace } },
  );
}

async function refusalOf(
  admission: Admission,
  manifest: AdmissionCase['manifest'],
): Promise<ApiStatusError> {
  const answer = await create(admission, manifest).catch((error: unknown) => error);
  if (!(answer instanceof ApiStatusError)) throw new Error('the manifest was admitted');
  return answer;
}

/** Expects an API server to find the problems that our validator finds, and returns its message. */
async function expectRefusal(admission: Admission, refused: AdmissionCase): Promise<string> {
  const { reason, message, status } = await refusalOf(admission, refused.manifest);
  // The form of a `Status` about an invalid object.
  const { causes } = (
    status as { readonly details: { readonly causes: readonly { readonly field: string }[] } }
  ).details;

  expect(reason).toBe('Invalid');
  const fields = causes.map(({ field }) => field);
  for (const { path } of refused.problems) {
    // Older servers leave out the index of a list item.
    const inShort = path.replaceAll(/\[\d+\]/g, '');
    expect(fields).toContain(fields.includes(path) ? path : inShort);
  }
  return message;
}
