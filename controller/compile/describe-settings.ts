import type { CompileOptions } from './resources.ts';

/** The name of the expected settings in messages. */
export function describeSettings({ settingsName, gatewayClassName }: CompileOptions): string {
  return [
    'GatewaySettings',
    ...(settingsName === undefined ? [] : [settingsName]),
    ...(gatewayClassName === undefined ? [] : [`of class ${gatewayClassName}`]),
  ].join(' ');
}
