import type { GatewaySettings } from '../../crds/types.ts';
import type { Resources } from '../compile/resources.ts';
import { ENVIRONMENT_PLACE } from './located-problem.ts';
import { PLACEHOLDER_SETTINGS } from './placeholder-settings.ts';
import type { Selection } from './selection.ts';

/** A selection as the compiler takes it. */
export function resourcesOf({ routes, settings, secrets }: Selection): Resources {
  return {
    routes: [...routes.values()].map(({ resource }) => resource),
    settings: settingsOf(settings),
    secrets: new Map(
      [...secrets.values()].map(({ resource: { metadata, values } }) => [
        `${metadata.namespace}/${metadata.name}`,
        values,
      ]),
    ),
  };
}

/** Settings that nobody wrote are none, so that messages do not speak of them. */
function settingsOf(settings: Selection['settings']): GatewaySettings | undefined {
  if (settings === undefined) return PLACEHOLDER_SETTINGS;
  const { file, resource } = settings;
  const isWritten = file !== ENVIRONMENT_PLACE || Object.keys(resource.spec).length > 0;
  return isWritten ? resource : undefined;
}
