import { useState } from 'react';
import { chooseTheme, chosenTheme, THEMES } from '../../app/theme.ts';
import { Button } from '../../parts/button.tsx';
import { Choose } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { chooseLanguage, LANGUAGES, type Language, language, t } from '../../text/language.ts';
import styles from './settings.module.css';

const CODES = ['en', 'de'] as const satisfies readonly Language[];

/** What is set for this browser alone. */
export function Browser() {
  const [wanted, setWanted] = useState<Language>(language);
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Card title={t.settings.browser}>
      <div className={styles.form}>
        <Choose
          label={t.settings.theme}
          options={THEMES.map((value) => ({ value, label: t.settings.themes[value] }))}
          value={theme}
          onChange={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
        />
        <Choose
          label={t.settings.language}
          options={CODES.map((value) => ({ value, label: LANGUAGES[value] }))}
          value={wanted}
          onChange={setWanted}
        />
        <p className="quiet">{t.settings.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}</p>
        {/* Not with the choice itself: arrow keys choose each language on the way. */}
        {wanted === language ? null : (
          <div className="row">
            <Button
              onPress={() => {
                chooseLanguage(wanted);
                window.location.reload();
              }}
            >
              {t.settings.useLanguage}
            </Button>
            <span className="quiet">{t.settings.languageAbout}</span>
          </div>
        )}
      </div>
    </Card>
  );
}
