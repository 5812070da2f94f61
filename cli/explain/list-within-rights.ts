import type { KubernetesApi, ResourceType } from '../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../controller/kubernetes/objects.ts';
import { withinRights } from './within-rights.ts';

/** So many objects fit into one response without slowing down the API server. */
const PAGE_SIZE = 500;

/**
 * Lists the objects of a type with namespaces: those of one, or of all. Rejects with a `CommandFailure` that
 * names the right that is missing.
 */
export function listWithinRights(
  api: Pick<KubernetesApi, 'list'>,
  type: ResourceType,
  namespace: string | undefined,
): Promise<readonly KubernetesObject[]> {
  const read = { verb: 'list', type, namespace, isEverywhere: namespace === undefined } as const;
  return withinRights(read, () => listAll(api, type, namespace));
}

/** Lists the objects of a type: of a namespace, or all. */
export async function listAll(
  api: Pick<KubernetesApi, 'list'>,
  type: ResourceType,
  namespace?: string,
): Promise<readonly KubernetesObject[]> {
  const scope = namespace === undefined ? {} : { namespace };
  const objects: KubernetesObject[] = [];
  let continueAt: string | undefined;
  do {
    const from = continueAt === undefined ? {} : { continueAt };
    const page = await api.list(type, scope, { limit: PAGE_SIZE, ...from });
    objects.push(...page.items);
    continueAt = page.continueAt;
  } while (continueAt !== undefined);
  return objects;
}
