/** The factor by which tests wait longer for engines slower than the embedded ones: `ENGINE_PATIENCE`. */
export const PATIENCE = Number(process.env.ENGINE_PATIENCE ?? '1');
