import type { SettingsVerdict } from './compilation.ts';
import type { SettingsKeeper } from './settings-keeper.ts';
import type { SettingsResources } from './settings-resources.ts';

/** Returns the verdict on the settings; undefined if there are none. */
export function settingsVerdict(
  { resource, served, isAccepted, problems: ofNewest }: SettingsKeeper,
  applied: SettingsResources | undefined,
  attachedRoutes: number,
): SettingsVerdict | undefined {
  if (resource === undefined) return undefined;
  const { resources = [], problems = [] } = applied ?? {};
  const [first] = resources;
  const { certificates = [] } = served?.output ?? {};
  const isServing = served !== undefined && first !== undefined;
  return {
    resource,
    isAccepted,
    problems: isAccepted ? problems : ofNewest,
    ...(isServing && {
      served: {
        generation: served.generation,
        spec: served.settings.spec,
        key: first.key,
        hash: first.hash,
      },
    }),
    keys: served === undefined ? [] : resources.map(({ key }) => key),
    ...(certificates.length > 0 && { certificates }),
    attachedRoutes,
  };
}
