import { isMapping } from './plain/translate-keys.ts';

/** `Route team-a/files`, as problems name a resource; undefined when a part of it is missing. */
export function resourceName(manifest: unknown): string | undefined {
  if (!isMapping(manifest) || !isMapping(manifest['metadata'])) return undefined;
  const { kind } = manifest;
  const { name, namespace = 'default' } = manifest['metadata'];
  const isNamed = [kind, name, namespace].every((part) => typeof part === 'string');
  return isNamed ? `${String(kind)} ${String(namespace)}/${String(name)}` : undefined;
}
