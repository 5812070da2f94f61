import type { GatewaySettings } from '../../crds/types.ts';
import { compileSettings, type SettingsParts } from './compile-settings.ts';
import type { CompileOptions } from './resources.ts';

/** What holds without GatewaySettings: the defaults, and no sign-in. */
export const NO_SETTINGS: GatewaySettings = {
  apiVersion: 'gatehouse.dev/v1alpha1',
  kind: 'GatewaySettings',
  metadata: { name: 'gatehouse', namespace: 'default' },
  spec: {},
};

/** What they compile to. */
export function defaultParts(options: CompileOptions): SettingsParts {
  const outcome = compileSettings(NO_SETTINGS, new Map(), options);
  if (outcome.kind === 'invalid') throw new Error('the default settings are valid');
  return outcome.value;
}
