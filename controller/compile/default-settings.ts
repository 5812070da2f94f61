import { API_VERSION } from '../../crds/crd-schema.ts';
import type { GatewaySettings } from '../../crds/types.ts';
import { compileSettings, type SettingsOutput } from './compile-settings.ts';
import { NO_SOURCES } from './referables.ts';
import type { CompileOptions } from './resources.ts';

/** The settings that apply without GatewaySettings: the defaults, without sign-in. */
export const NO_SETTINGS: GatewaySettings = {
  apiVersion: API_VERSION,
  kind: 'GatewaySettings',
  metadata: { name: 'gatehouse', namespace: 'default' },
  spec: {},
};

/** Compiles the default settings. */
export function defaultOutput(options: CompileOptions): SettingsOutput {
  const result = compileSettings(NO_SETTINGS, NO_SOURCES, options);
  if (result.kind === 'invalid') throw new Error('the default settings are invalid');
  return result.value;
}
