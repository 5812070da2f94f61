import { parseAllDocuments, stringify } from 'yaml';

/** The roles of controller/manifests/rbac.yaml, and what the chart calls their rules. */
const RULES_OF = new Map([
  ['ClusterRole gatehouse-controller', 'cluster'],
  ['ClusterRole gatehouse-controller-routes', 'routes'],
  ['ClusterRole gatehouse-controller-route-secrets', 'routeSecrets'],
  ['Role gatehouse-controller', 'own'],
]);

/** Returns the rules of the controllers' roles as the chart reads them. Throws if there is another role. */
export function chartRights(manifests: string): string {
  const rules = parseAllDocuments(manifests).flatMap((document) => {
    const kind = String(document.get('kind'));
    if (!kind.endsWith('Role')) return [];
    const role = `${kind} ${String(document.getIn(['metadata', 'name']))}`;
    const name = RULES_OF.get(role);
    if (name === undefined) throw new Error(`the chart has no place for ${role}`);
    return [[name, document.get('rules')] as const];
  });
  return stringify(Object.fromEntries(rules));
}
