import type { JsonObject } from './json.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Answers requests about the API server itself; undefined for an unknown path. */
export function discover(
  path: string,
  definitions: readonly ResourceDefinition[],
): JsonObject | string | undefined {
  if (/^\/(healthz|livez|readyz)$/.test(path)) return 'ok';
  if (path === '/version') return { major: '1', minor: '35', gitVersion: 'v1.35.0-fake' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') return groupList(definitions);
  const [, groupVersion] = /^\/(?:api|apis)\/(.+)$/.exec(path) ?? [];
  const named = definitions.filter((definition) => apiVersionOf(definition) === groupVersion);
  const isCore = path.startsWith('/api/');
  if (named.length === 0 || isCore !== (groupVersion === 'v1')) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: named.flatMap(resourcesOf),
  };
}

function groupList(definitions: readonly ResourceDefinition[]): JsonObject {
  const named = new Map(
    definitions
      .filter(({ group }) => group !== '')
      .map((definition) => [definition.group, definition]),
  );
  const groups = [...named].map(([name, definition]) => {
    const version = { groupVersion: apiVersionOf(definition), version: definition.version };
    return { name, versions: [version], preferredVersion: version };
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

function resourcesOf({ plural, kind, namespaced, hasStatus }: ResourceDefinition): JsonObject[] {
  const resource = {
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: VERBS,
  };
  const status = { ...resource, name: `${plural}/status`, verbs: ['get', 'patch', 'update'] };
  return hasStatus ? [resource, status] : [resource];
}
