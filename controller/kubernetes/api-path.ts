import type { ResourceType, Scope } from './kubernetes-api.ts';

/** An object, or the objects of a namespace, or of all. */
export interface ApiPlace extends Scope {
  readonly subresource?: string;
}

/** Path of a resource at the API server. Nothing in a name can lead to another resource. */
export function apiPath({ group, version, plural }: ResourceType, place: ApiPlace): string {
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(place.namespace === undefined ? [] : ['namespaces', place.namespace]),
    plural,
    ...(place.name === undefined ? [] : [place.name]),
    ...(place.subresource === undefined ? [] : [place.subresource]),
  ];
  return parts.map((part) => `/${encodePart(part)}`).join('');
}

function encodePart(part: string): string {
  // A path is normalized on its way: these would climb out of it, and so would an empty one.
  if (part === '' || part === '.' || part === '..') {
    throw new TypeError(`not the name of a resource: "${part}"`);
  }
  return encodeURIComponent(part);
}
