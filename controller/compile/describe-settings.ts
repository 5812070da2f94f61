import type { CompileOptions } from './resources.ts';

/** The settings that are looked for, as messages name them. */
export function describeSettings({ settingsName, gatewayClassName }: CompileOptions): string {
  return [
    'GatewaySettings',
    ...(settingsName === undefined ? [] : [settingsName]),
    ...(gatewayClassName === undefined ? [] : [`of class ${gatewayClassName}`]),
  ].join(' ');
}
