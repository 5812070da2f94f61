/** Sets a value; undefined deletes it. */
export function setOrDelete<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** Sets a value in the map of a group; undefined deletes it. An empty group is removed. */
export function setInGroup<V>(
  groups: Map<string, Map<string, V>>,
  group: string,
  [key, value]: readonly [string, V | undefined],
): void {
  const map = groups.get(group) ?? new Map<string, V>();
  setOrDelete(map, key, value);
  setOrDelete(groups, group, map.size === 0 ? undefined : map);
}
