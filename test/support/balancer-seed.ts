/** The seed of a balancer's random choices: set `BALANCER_SEED` to repeat those of an earlier run. */
export const BALANCER_SEED = Number(
  process.env['BALANCER_SEED'] ?? Math.floor(Math.random() * 2 ** 31),
);
