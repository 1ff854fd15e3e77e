"""Short survey answers in several languages, for the detection of encodings."""
# ruff: noqa: RUF001 (the letters of other languages are what it is about)

import random

ANSWERS = {
    "German": """Der Service war sehr gut;Zu teuer für die Qualität;Die Lieferung kam später als
        angekündigt;Nichts;Ich würde es wieder kaufen;Das Personal war unfreundlich;Müsste größer
        sein;Schöne Farben, aber schlechtes Material;Öffnungszeiten sind ungünstig;weiß nicht;Für
        ältere Menschen schwer zu verstehen;Mehr Auswahl wäre schön""",
    "French": """Le service était très agréable;Trop cher pour la qualité;La livraison a été
        retardée;Rien à signaler;Le personnel n'était pas aimable;Les horaires d'ouverture sont
        gênants;ne sais pas;Difficile à comprendre pour les personnes âgées;Ça va""",
    "Spanish": """El servicio fue muy bueno;Demasiado caro;La entrega tardó más de lo anunciado;
        Nada;Lo compraría otra vez;Los horarios son incómodos;Precio, ubicación y estacionamiento;
        no sé;Difícil de entender para los niños pequeños;Más opciones el próximo año""",
    "Polish": """Obsługa była bardzo dobra;Za drogie jak na taką jakość;Dostawa trwała dłużej niż
        zapowiadano;Nic;Kupiłbym jeszcze raz;Personel był nieuprzejmy;Powinno być większe;Ładne
        kolory, ale zły materiał;Godziny otwarcia są niewygodne;nie wiem;Chciałabym większy
        wybór""",
    "Turkish": """Hizmet çok iyiydi;Bu kalite için çok pahalı;Teslimat söylenenden uzun sürdü;
        Hiçbir şey;Yine alırdım;Daha büyük olmalı;Açılış saatleri uygun değil;bilmiyorum;Yaşlılar
        için anlaşılması güç""",
    "Russian": """Обслуживание было очень хорошее;Слишком дорого для такого качества;Доставка
        длилась дольше чем обещали;Ничего;Купил бы ещё раз;Персонал был грубый;Должно быть больше;
        Красивые цвета, но плохой материал;Неудобные часы работы;не знаю;Трудно понять пожилым""",
    "Greek": """Η εξυπηρέτηση ήταν πολύ καλή;Πολύ ακριβό για την ποιότητα;Η παράδοση άργησε;Τίποτα;
        Θα το αγόραζα ξανά;Το προσωπικό ήταν αγενές;Έπρεπε να είναι μεγαλύτερο;δεν ξέρω""",
    "Hebrew": """השירות היה טוב מאוד;יקר מדי ביחס לאיכות;המשלוח ארך יותר מהצפוי;כלום;הייתי קונה
        שוב;הצוות לא היה אדיב;לא יודע;קשה להבנה למבוגרים""",
    "Japanese": """
        サービスがとても良かったです;値段が高すぎると思います;配送に時間がかかりました;
        特になし;また買いたいです;店員の態度が悪かった;もう少し大きいほうがいい;
        色はきれいだが素材が悪い;わからない;お年寄りには難しい;
        もっと種類を増やしてほしい""",
    "Chinese": """
        服务非常好;对于这个质量来说太贵了;送货时间比承诺的长;没有;我会再次购买;
        工作人员态度不好;应该再大一点;颜色漂亮但是材料很差;营业时间不方便;不知道;
        老年人很难理解;希望有更多选择""",
}


def answers(language, n=100, seed=0):
    """Answers of `n` people: short sentences, often the same ones."""
    rng = random.Random(f"{language} {seed}")
    sentences = [" ".join(text.split()) for text in ANSWERS[language].split(";")]
    return [rng.choice(sentences) for _ in range(n)]


def table_text(language, n=100, seed=0):
    """A table of the answers between numbers, separated by semicolons."""
    lines = [f"{k};{answer};{k % 70 + 18}\n" for k, answer in enumerate(answers(language, n, seed))]
    return "id;answer;age\n" + "".join(lines)
