import type { ObjectMeta } from '../kubernetes/objects.ts';

/** The generation of a stored resource; 0 if it has none. */
export function generationOf({ metadata }: { readonly metadata: ObjectMeta }): number {
  return metadata.generation ?? 0;
}

/** Whether two versions of a resource have the same spec: status and labels change without it. */
export function isSameGeneration(
  one: { readonly metadata: ObjectMeta },
  other: { readonly metadata: ObjectMeta },
): boolean {
  const { uid, generation } = one.metadata;
  return (
    generation !== undefined &&
    generation === other.metadata.generation &&
    uid === other.metadata.uid
  );
}
