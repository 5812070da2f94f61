import type { ReferenceGrant } from '../../kubernetes/objects.ts';
import { setInGroup } from '../grouped-map.ts';

type Grant = NonNullable<ReferenceGrant['spec']>;

/** The ReferenceGrants of a cluster: which namespaces may refer to Services of others. */
export class ReferenceGrants {
  /** By namespace and key. */
  readonly #grants = new Map<string, Map<string, Grant>>();

  /** Undefined removes a grant. Returns the namespace of the grant. */
  set(key: string, grant: ReferenceGrant | undefined): string {
    const [namespace = ''] = key.split('/');
    setInGroup(this.#grants, namespace, [key, grant && (grant.spec ?? {})]);
    return namespace;
  }

  /** Whether routes of a namespace may refer to a Service of another namespace. */
  permits(
    from: string,
    { namespace, name }: { readonly namespace: string; readonly name: string },
  ): boolean {
    const grants = [...(this.#grants.get(namespace)?.values() ?? [])];
    return grants.some((grant) => includesRoutes(grant, from) && includesService(grant, name));
  }
}

function includesRoutes({ from = [] }: Grant, namespace: string): boolean {
  return from.some(
    (one) => one.group === 'gatehouse.dev' && one.kind === 'Route' && one.namespace === namespace,
  );
}

/** A grant without a name is for all Services of its namespace. */
function includesService({ to = [] }: Grant, name: string): boolean {
  return to.some(
    (one) =>
      one.group === '' && one.kind === 'Service' && (one.name === undefined || one.name === name),
  );
}
